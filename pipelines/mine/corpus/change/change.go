// Package change counts coins.
package change

// Change returns the smallest number of coins of 10, 5 and 1 that make x.
func Change(x int) int {
	count := x / 10
	x %= 10
	if x >= 5 {
		count++
		x -= 5
	}
	return count + x
}
