// Package vote counts votes.
package vote

// Vote returns the winner of a vote on 1 or 2 by more than half, 0 when there is none.
func Vote(xs []int) int {
	one, two := 0, 0
	for _, x := range xs {
		if x == 1 {
			one++
		} else if x == 2 {
			two++
		}
	}
	if 2*one > len(xs) {
		return 1
	}
	if two*2 > len(xs) {
		return 2
	}
	return 0
}
