package pairsum

import "testing"

func TestPairSum(t *testing.T) {
	cases := []struct {
		xs      []int
		x, want int
	}{
		{[]int{1, 2, 3}, 5, 1},
		{[]int{1, 2, 3}, 7, 0},
		{[]int{2, 2, 2}, 4, 3},
		{[]int{4}, 8, 0},
		{[]int{5, 1}, 6, 1},
	}
	for _, c := range cases {
		if got := PairSum(c.xs, c.x); got != c.want {
			t.Fatalf("PairSum(%v, %d) = %d, want %d", c.xs, c.x, got, c.want)
		}
	}
}
