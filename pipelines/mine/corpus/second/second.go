// Package second finds the runner-up.
package second

// Second returns the second largest value of xs, -1 when all are equal; xs holds no negatives.
func Second(xs []int) int {
	best, next := -1, -1
	for _, x := range xs {
		if x > best {
			best, next = x, best
		} else if x < best && x > next {
			next = x
		}
	}
	return next
}
