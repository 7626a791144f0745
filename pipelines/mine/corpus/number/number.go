// Package number reads numbers.
package number

// Number returns the number that the decimal digits of s make, -1 when s holds anything else.
func Number(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		x := int(s[i]) - '0'
		if x < 0 || x > 9 {
			return -1
		}
		n = n*10 + x
	}
	return n
}
