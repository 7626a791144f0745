// Package runs counts runs of equal numbers.
package runs

// Runs returns how many runs of equal neighbours xs has.
func Runs(xs []int) int {
	if len(xs) == 0 {
		return 0
	}
	count := 1
	for i := 1; i < len(xs); i++ {
		if xs[i] != xs[i-1] {
			count++
		}
	}
	return count
}
