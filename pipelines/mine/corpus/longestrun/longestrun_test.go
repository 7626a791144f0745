package longestrun

import "testing"

func TestLongestRun(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{1, 1, 2}, 2},
		{nil, 0},
		{[]int{4}, 1},
		{[]int{1, 2, 2, 2}, 3},
		{[]int{5, 6, 7}, 1},
		{[]int{3, 3, 8, 8, 8, 3}, 3},
	}
	for _, c := range cases {
		if got := LongestRun(c.xs); got != c.want {
			t.Fatalf("LongestRun(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}
