// Package clock adds to times of day.
package clock

// Clock returns the minute of the day n minutes after hour h and minute m.
func Clock(h, m, n int) int {
	x := h*60 + m + n
	for x >= 1440 {
		x -= 1440
	}
	for x < 0 {
		x += 1440
	}
	return x
}
