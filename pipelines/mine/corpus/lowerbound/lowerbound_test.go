package lowerbound

import "testing"

func TestLowerBound(t *testing.T) {
	cases := []struct {
		xs      []int
		x, want int
	}{
		{[]int{1, 3, 5}, 3, 1},
		{[]int{1, 3, 5}, 4, 2},
		{[]int{1, 3, 5}, 9, 3},
		{[]int{1, 3, 5}, 0, 0},
		{[]int{2, 2, 2}, 2, 0},
		{nil, 1, 0},
	}
	for _, c := range cases {
		if got := LowerBound(c.xs, c.x); got != c.want {
			t.Fatalf("LowerBound(%v, %d) = %d, want %d", c.xs, c.x, got, c.want)
		}
	}
}
