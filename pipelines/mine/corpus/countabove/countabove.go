// Package countabove counts the numbers above a limit.
package countabove

// CountAbove returns how many of xs are above x, each above 2*x counted twice.
func CountAbove(xs []int, x int) int {
	count := 0
	for _, y := range xs {
		if y > x {
			count++
		}
		if y > 2*x {
			count += 1
		}
	}
	return count
}
