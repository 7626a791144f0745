// Package roundup rounds to multiples.
package roundup

// RoundUp returns the smallest multiple of m (above 0) that is at least x, for x from 0.
func RoundUp(x, m int) int {
	n := x % m
	if n == 0 {
		return x
	}
	return x + (m - n)
}
