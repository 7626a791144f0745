// Package window slides a window over a slice.
package window

// Window returns the largest sum of n neighbours in xs, 0 when there are fewer.
func Window(xs []int, n int) int {
	best, sum := 0, 0
	for i, x := range xs {
		sum += x
		if i >= n {
			sum -= xs[i-n]
		}
		if i+1 >= n && sum > best {
			best = sum
		}
	}
	return best
}
