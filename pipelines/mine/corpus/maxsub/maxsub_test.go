package maxsub

import "testing"

func TestMaxSub(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{2, -5, 3, 1}, 4},
		{[]int{-3}, 0},
		{[]int{4, -1, 2}, 5},
		{nil, 0},
		{[]int{1, 2}, 3},
	}
	for _, c := range cases {
		if got := MaxSub(c.xs); got != c.want {
			t.Fatalf("MaxSub(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}
