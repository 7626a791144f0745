// Package contains tells whether a slice holds a number.
package contains

// Contains reports whether x occurs in xs at least n times.
func Contains(xs []int, x, n int) bool {
	count := 0
	for i := 0; i < len(xs); i++ {
		if xs[i] == x {
			count++
		}
	}
	return count >= n
}
