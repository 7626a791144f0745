// Package dedupe removes repeats.
package dedupe

// Dedupe returns the sorted xs with each number once.
func Dedupe(xs []int) []int {
	out := []int{}
	for i := 0; i < len(xs); i++ {
		if i == 0 || xs[i] != xs[i-1] {
			out = append(out, xs[i])
		}
	}
	return out
}
