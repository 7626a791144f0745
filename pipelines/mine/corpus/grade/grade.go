// Package grade grades test scores.
package grade

// Grade returns the grade for a score: A from 90, B from 75, C from 50, else F.
func Grade(score int) string {
	if score >= 90 {
		return "A"
	}
	if score >= 75 {
		return "B"
	}
	if score >= 50 {
		return "C"
	}
	return "F"
}
