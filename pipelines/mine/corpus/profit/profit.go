// Package profit finds the best trade.
package profit

// Profit returns the largest gain of buying at one price of xs and selling at a later one.
func Profit(xs []int) int {
	best := 0
	for i := 0; i < len(xs); i++ {
		for j := i + 1; j < len(xs); j++ {
			if xs[j]-xs[i] > best {
				best = xs[j] - xs[i]
			}
		}
	}
	return best
}
