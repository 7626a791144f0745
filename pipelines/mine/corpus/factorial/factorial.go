// Package factorial computes factorials.
package factorial

// Factorial returns the product of 1 to n; 1 when n is below 2.
func Factorial(n int) int {
	out := 1
	for n > 1 {
		out *= n
		n--
	}
	return out
}
