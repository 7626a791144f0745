// Package shift enciphers letters.
package shift

// Shift returns the letter n places (0 to 26) after the small letter c; other bytes stay.
func Shift(c byte, n int) byte {
	if c < 'a' || c > 'z' {
		return c
	}
	x := int(c-'a') + n
	if x >= 26 {
		x -= 26
	}
	return 'a' + byte(x)
}
