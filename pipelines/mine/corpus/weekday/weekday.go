// Package weekday counts weekdays.
package weekday

// Weekday returns the day of the week n days after day d, both days from 0 to 6; n may be negative.
func Weekday(d, n int) int {
	x := (d + n) % 7
	if x < 0 {
		x += 7
	}
	return x
}
