// Package balance checks brackets.
package balance

// Balance reports whether the round brackets of s are balanced.
func Balance(s string) bool {
	n := 0
	for _, c := range s {
		if c == '(' {
			n++
		}
		if c == ')' {
			n--
		}
		if n < 0 {
			return false
		}
	}
	return n == 0
}
