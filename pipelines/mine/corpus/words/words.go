// Package words counts words.
package words

// Words returns how many words, parted by one or more spaces, s has.
func Words(s string) int {
	count := 0
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' {
			continue
		}
		if i == 0 || s[i-1] == ' ' {
			count++
		}
	}
	return count
}
