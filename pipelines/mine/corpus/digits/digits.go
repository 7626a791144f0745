// Package digits counts digits.
package digits

// Digits returns how many digits n has in base b, which is 2 or more.
func Digits(n, b int) int {
	if n < 0 {
		n = -n
	}
	count := 1
	for n >= b {
		n /= b
		count++
	}
	return count
}
