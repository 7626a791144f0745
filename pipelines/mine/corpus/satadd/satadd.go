// Package satadd adds without overflow.
package satadd

// SatAdd returns x+y, limited to what a byte holds: 0 to 255.
func SatAdd(x, y int) int {
	sum := x + y
	if sum > 255 {
		return 255
	}
	if sum < 0 {
		return 0
	}
	return sum
}
