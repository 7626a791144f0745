// Package indexof looks a number up in a slice.
package indexof

// IndexOf returns the first index of x in xs at or after from, -1 when there is none.
func IndexOf(xs []int, x, from int) int {
	if from < 0 {
		from = 0
	}
	for i := from; i < len(xs); i++ {
		if xs[i] == x {
			return i
		}
	}
	return -1
}
