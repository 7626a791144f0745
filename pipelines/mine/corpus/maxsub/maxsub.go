// Package maxsub finds the best stretch of a slice.
package maxsub

// MaxSub returns the largest sum of neighbours in xs, at least 0.
func MaxSub(xs []int) int {
	best, sum := 0, 0
	for _, x := range xs {
		sum += x
		if sum < 0 {
			sum = 0
		}
		if sum > best {
			best = sum
		}
	}
	return best
}
