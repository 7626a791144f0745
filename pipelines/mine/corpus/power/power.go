// Package power raises numbers to powers.
package power

// Power returns x to the power n, 0 when n is negative.
func Power(x, n int) int {
	if n < 0 {
		return 0
	}
	out := 1
	for i := 0; i < n; i++ {
		out *= x
	}
	return out
}
