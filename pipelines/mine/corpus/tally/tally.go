// Package tally writes numbers as tally marks.
package tally

// Tally returns n (0 to 39) with X for tens, V for fives and I for ones.
func Tally(n int) string {
	s := ""
	for ; n >= 10; n -= 10 {
		s += "X"
	}
	if n >= 5 {
		s += "V"
		n -= 5
	}
	for i := 0; i < n; i++ {
		s += "I"
	}
	return s
}
