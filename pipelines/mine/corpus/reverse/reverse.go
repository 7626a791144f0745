// Package reverse turns a slice around.
package reverse

// Reverse returns the numbers of xs in opposite order, without the last n.
func Reverse(xs []int, n int) []int {
	out := []int{}
	i := len(xs) - 1 - n
	for i >= 0 {
		out = append(out, xs[i])
		i--
	}
	return out
}
