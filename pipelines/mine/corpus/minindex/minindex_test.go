package minindex

import "testing"

func TestMinIndex(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{3, 1, 2}, 1},
		{nil, -1},
		{[]int{5}, 0},
		{[]int{4, 2, 2}, 1},
		{[]int{6, 7, 5}, 2},
	}
	for _, c := range cases {
		if got := MinIndex(c.xs); got != c.want {
			t.Fatalf("MinIndex(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}
