// Package trim cuts zeros off.
package trim

// Trim returns the part of xs between its leading and trailing zeros.
func Trim(xs []int) []int {
	lo, hi := 0, len(xs)
	for lo < hi && xs[lo] == 0 {
		lo++
	}
	for hi > lo && xs[hi-1] == 0 {
		hi--
	}
	return xs[lo:hi]
}
