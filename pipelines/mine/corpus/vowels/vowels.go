// Package vowels counts vowels.
package vowels

// Vowels returns how many of the first n bytes of s are small vowels.
func Vowels(s string, n int) int {
	count := 0
	for i := 0; i < len(s) && i < n; i++ {
		c := s[i]
		if c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' {
			count++
		}
	}
	return count
}
