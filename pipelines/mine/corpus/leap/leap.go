// Package leap knows the leap years.
package leap

// Leap reports whether y is a leap year of the Gregorian calendar.
func Leap(y int) bool {
	if y%400 == 0 {
		return true
	}
	if y%100 == 0 {
		return false
	}
	return y%4 == 0
}
