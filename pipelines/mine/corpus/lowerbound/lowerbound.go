// Package lowerbound searches a sorted slice.
package lowerbound

// LowerBound returns the first index of the sorted xs whose number is not below x.
func LowerBound(xs []int, x int) int {
	lo, hi := 0, len(xs)
	for lo < hi {
		mid := (lo + hi) / 2
		if xs[mid] < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
