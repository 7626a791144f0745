// Package overlap intersects ranges.
package overlap

// Overlap returns how many numbers lie in both a..b and c..d, ends included.
func Overlap(a, b, c, d int) int {
	lo, hi := a, b
	if c > lo {
		lo = c
	}
	if d < hi {
		hi = d
	}
	if lo > hi {
		return 0
	}
	return hi - lo + 1
}
