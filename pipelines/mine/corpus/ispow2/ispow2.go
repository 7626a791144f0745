// Package ispow2 recognises powers of two.
package ispow2

// IsPow2 reports whether x is 1, 2, 4, 8 and so on.
func IsPow2(x int) bool {
	if x <= 0 {
		return false
	}
	for x%2 == 0 {
		x /= 2
	}
	return x == 1
}
