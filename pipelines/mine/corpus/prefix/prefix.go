// Package prefix computes running sums.
package prefix

// Prefix returns the sums of the first 1, 2, ... numbers of xs, each at most limit.
func Prefix(xs []int, limit int) []int {
	out, sum := []int{}, 0
	for _, x := range xs {
		sum += x
		if sum > limit {
			sum = limit
		}
		out = append(out, sum)
	}
	return out
}
