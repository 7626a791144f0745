// Package energy computes costs of moves.
package energy

// Energy returns the cost of climbing from a to b: 3 a step up, 1 a step down, at most limit.
func Energy(a, b, limit int) int {
	cost := 0
	if b > a {
		cost = 3 * (b - a)
	} else {
		cost = a - b
	}
	if cost > limit {
		return limit
	}
	return cost
}
