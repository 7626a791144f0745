// Package percent computes percentages.
package percent

// Percent returns how many hundredths of total x is, rounded to the nearest.
func Percent(x, total int) int {
	if total <= 0 {
		return 0
	}
	n := x * 100
	n += total / 2
	return n / total
}
