// Package pairsum looks for pairs with a given sum.
package pairsum

// PairSum returns how many pairs of different places of xs have the sum x.
func PairSum(xs []int, x int) int {
	count := 0
	for i := 0; i < len(xs); i++ {
		for j := i + 1; j < len(xs); j++ {
			if xs[i]+xs[j] == x {
				count++
			}
		}
	}
	return count
}
