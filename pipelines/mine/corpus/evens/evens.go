// Package evens adds up even numbers.
package evens

// Evens returns the sum of the even numbers from lo to hi, both included.
func Evens(lo, hi int) int {
	sum := 0
	for i := lo; i <= hi; i++ {
		if i%2 == 0 {
			sum += i
		}
	}
	return sum
}
