// Package collatz walks the Collatz sequence.
package collatz

// Collatz returns the number of steps from n to 1: half of an even number, 3n+1 of an odd one.
func Collatz(n int) int {
	count := 0
	for n > 1 {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
		count++
	}
	return count
}
