// Package absdiff measures the distance of two numbers.
package absdiff

// AbsDiff returns how far x and y are apart, at most 100.
func AbsDiff(x, y int) int {
	n := x - y
	if n < 0 {
		n = y - x
	}
	if n > 100 {
		return 100
	}
	return n
}
