// Package bitcount counts bits.
package bitcount

// BitCount returns how many bits of the non-negative x are set.
func BitCount(x int) int {
	count := 0
	for x > 0 {
		if x%2 == 1 {
			count++
		}
		x /= 2
	}
	return count
}
