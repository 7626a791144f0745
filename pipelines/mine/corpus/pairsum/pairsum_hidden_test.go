package pairsum

import "testing"

type pairSumCase struct {
	xs      []int
	x, want int
}

func checkPairSum(t *testing.T, cases []pairSumCase) {
	t.Helper()
	for _, c := range cases {
		if got := PairSum(c.xs, c.x); got != c.want {
			t.Fatalf("PairSum(%v, %d) = %d, want %d", c.xs, c.x, got, c.want)
		}
	}
}

func TestPairSumEmpty(t *testing.T) {
	checkPairSum(t, []pairSumCase{
		{nil, 0, 0},
	})
}

func TestPairSumOne(t *testing.T) {
	checkPairSum(t, []pairSumCase{
		{[]int{3}, 6, 0},
	})
}

func TestPairSumNone(t *testing.T) {
	checkPairSum(t, []pairSumCase{
		{[]int{1, 2, 4}, 9, 0},
	})
}

func TestPairSumFirst(t *testing.T) {
	checkPairSum(t, []pairSumCase{
		{[]int{1, 9, 3}, 10, 1},
	})
}

func TestPairSumMany(t *testing.T) {
	checkPairSum(t, []pairSumCase{
		{[]int{1, 3, 1, 3}, 4, 4},
		{[]int{0, 0}, 0, 1},
	})
}

func TestPairSumNegative(t *testing.T) {
	checkPairSum(t, []pairSumCase{
		{[]int{-1, 1, 0}, 0, 1},
	})
}
