// Package daysin knows the lengths of the months.
package daysin

// DaysIn returns the number of days of month m (1 to 12), by whether the year is leap.
func DaysIn(m int, leap bool) int {
	if m == 2 && leap {
		return 29
	}
	if m == 2 {
		return 28
	}
	if m == 4 || m == 6 || m == 9 || m == 11 {
		return 30
	}
	return 31
}
