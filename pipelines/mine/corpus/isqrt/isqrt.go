// Package isqrt computes whole square roots.
package isqrt

// ISqrt returns the largest n with n*n at most x, 0 when x is negative.
func ISqrt(x int) int {
	n := 0
	for (n+1)*(n+1) <= x {
		n++
	}
	return n
}
