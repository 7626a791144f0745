// Package tax computes taxes.
package tax

// Tax returns the tax on x: nothing up to 100, a tenth above that, a fifth above 500.
func Tax(x int) int {
	if x <= 100 {
		return 0
	}
	if x <= 500 {
		return (x - 100) / 10
	}
	return 40 + (x-500)/5
}
