// Package median finds the middle of three numbers.
package median

// Median returns the one of a, b and c that is neither smallest nor largest.
func Median(a, b, c int) int {
	if a > b {
		a, b = b, a
	}
	if c < a {
		return a
	}
	if c > b {
		return b
	}
	return c
}
