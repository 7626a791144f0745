// Package peak finds peaks.
package peak

// Peak returns how many inner numbers of xs are above both neighbours.
func Peak(xs []int) int {
	count := 0
	for i := 1; i < len(xs)-1; i++ {
		if xs[i] > xs[i-1] && xs[i] > xs[i+1] {
			count++
		}
	}
	return count
}
