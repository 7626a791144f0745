// Package ordinal writes ordinals.
package ordinal

// Ordinal returns the ending of the n-th: st, nd, rd or th.
func Ordinal(n int) string {
	if n%100 > 10 && n%100 < 14 {
		return "th"
	}
	if n%10 == 1 {
		return "st"
	}
	if n%10 == 2 {
		return "nd"
	}
	if n%10 == 3 {
		return "rd"
	}
	return "th"
}
