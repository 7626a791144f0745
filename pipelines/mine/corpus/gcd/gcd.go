// Package gcd computes greatest common divisors.
package gcd

// GCD returns the largest number that divides both a and b, never negative.
func GCD(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}
