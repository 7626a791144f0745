// Package longestrun measures runs of equal numbers.
package longestrun

// LongestRun returns the length of the longest run of equal neighbours in xs.
func LongestRun(xs []int) int {
	best, n := 0, 0
	for i := 0; i < len(xs); i++ {
		if i > 0 && xs[i] != xs[i-1] {
			n = 0
		}
		n++
		if n > best {
			best = n
		}
	}
	return best
}
