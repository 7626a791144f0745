// Package binomial counts choices.
package binomial

// Binomial returns in how many ways k of n things can be chosen.
func Binomial(n, k int) int {
	if k < 0 || k > n {
		return 0
	}
	out := 1
	for i := 1; i <= k; i++ {
		out = out * (n + 1 - i) / i
	}
	return out
}
