package maxof

import "testing"

func TestMax(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{3, 9, 2}, 9},
		{[]int{4}, 4},
		{nil, 0},
		{[]int{-5, -2, -8}, -2},
		{[]int{1, 2}, 2},
	}
	for _, c := range cases {
		if got := Max(c.xs); got != c.want {
			t.Fatalf("Max(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}
