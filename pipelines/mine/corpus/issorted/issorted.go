// Package issorted checks the order of a slice.
package issorted

// IsSorted reports whether no number of xs is smaller than the one before it.
func IsSorted(xs []int) bool {
	if len(xs) < 2 {
		return true
	}
	for i := 1; i < len(xs); i++ {
		if xs[i] < xs[i-1] {
			return false
		}
	}
	return true
}
