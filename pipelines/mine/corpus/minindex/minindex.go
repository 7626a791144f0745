// Package minindex finds where the smallest number of a slice is.
package minindex

// MinIndex returns the first index of the smallest of xs, -1 when xs is empty.
func MinIndex(xs []int) int {
	if len(xs) == 0 {
		return -1
	}
	best := 0
	for i := 1; i < len(xs); i++ {
		if xs[i] < xs[best] {
			best = i
		}
	}
	return best
}
