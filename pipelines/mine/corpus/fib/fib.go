// Package fib computes Fibonacci numbers.
package fib

// Fib returns the n-th Fibonacci number; the first two, 0 and 1, are 0 and 1.
func Fib(n int) int {
	if n <= 0 {
		return 0
	}
	a, b := 0, 1
	for i := 1; i < n; i++ {
		a, b = b, a+b
	}
	return b
}
