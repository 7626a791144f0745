// Package maxof finds the largest number of a slice.
package maxof

// Max returns the largest of xs, 0 when xs is empty.
func Max(xs []int) int {
	if len(xs) == 0 {
		return 0
	}
	best := xs[0]
	for i := 1; i < len(xs); i++ {
		if xs[i] > best {
			best = xs[i]
		}
	}
	return best
}
