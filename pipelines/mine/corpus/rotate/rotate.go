// Package rotate rotates slices.
package rotate

// Rotate returns xs moved n places (0 or more) to the left, the front going to the end.
func Rotate(xs []int, n int) []int {
	out := []int{}
	for i := 0; i < len(xs); i++ {
		j := (i + n) % len(xs)
		out = append(out, xs[j])
	}
	return out
}
