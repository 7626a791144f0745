// Package partition splits slices by a limit.
package partition

// Partition returns xs with each number below x swapped, in order, to the front.
func Partition(xs []int, x int) []int {
	out := append([]int{}, xs...)
	i := 0
	for j := 0; j < len(out); j++ {
		if out[j] < x {
			out[i], out[j] = out[j], out[i]
			i++
		}
	}
	return out
}
