// Package palindrome recognises palindromes.
package palindrome

// Palindrome reports whether s reads the same from both ends.
func Palindrome(s string) bool {
	i, j := 0, len(s)-1
	for i < j {
		if s[i] != s[j] {
			return false
		}
		i++
		j--
	}
	return true
}
