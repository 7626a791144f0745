package lowerbound

import "testing"

type lowerBoundCase struct {
	xs      []int
	x, want int
}

func checkLowerBound(t *testing.T, cases []lowerBoundCase) {
	t.Helper()
	for _, c := range cases {
		if got := LowerBound(c.xs, c.x); got != c.want {
			t.Fatalf("LowerBound(%v, %d) = %d, want %d", c.xs, c.x, got, c.want)
		}
	}
}

func TestLowerBoundEmpty(t *testing.T) {
	checkLowerBound(t, []lowerBoundCase{
		{nil, 4, 0},
	})
}

func TestLowerBoundBelow(t *testing.T) {
	checkLowerBound(t, []lowerBoundCase{
		{[]int{5, 6, 7}, 1, 0},
		{[]int{5}, 5, 0},
	})
}

func TestLowerBoundAbove(t *testing.T) {
	checkLowerBound(t, []lowerBoundCase{
		{[]int{5, 6, 7}, 8, 3},
		{[]int{5}, 6, 1},
	})
}

func TestLowerBoundInside(t *testing.T) {
	checkLowerBound(t, []lowerBoundCase{
		{[]int{1, 2, 4, 8, 16}, 5, 3},
		{[]int{1, 2, 4, 8, 16}, 8, 3},
	})
}

func TestLowerBoundEqual(t *testing.T) {
	checkLowerBound(t, []lowerBoundCase{
		{[]int{1, 4, 4, 4, 9}, 4, 1},
	})
}
