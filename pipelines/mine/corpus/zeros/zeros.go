// Package zeros counts trailing zeros.
package zeros

// Zeros returns how many zeros the product of 1 to n ends in.
func Zeros(n int) int {
	count := 0
	for n >= 5 {
		n /= 5
		count += n
	}
	return count
}
