// Package price computes prices.
package price

// Price returns the price of n items at x each: from 10 items a tenth off, free delivery from 50, else 5 more.
func Price(n, x int) int {
	sum := n * x
	if n >= 10 {
		sum -= sum / 10
	}
	if sum < 50 {
		sum += 5
	}
	return sum
}
