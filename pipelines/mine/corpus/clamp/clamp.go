// Package clamp limits numbers to a range.
package clamp

// Clamp returns x, or the end of lo..hi that x is beyond; lo when the range is empty.
func Clamp(x, lo, hi int) int {
	if x < lo || hi < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}
