package countabove

import "testing"

func TestCountAbove(t *testing.T) {
	cases := []struct {
		xs      []int
		x, want int
	}{
		{[]int{1, 5, 7}, 4, 2},
		{[]int{9}, 4, 2},
		{[]int{4, 8}, 4, 1},
		{nil, 3, 0},
		{[]int{2, 3}, 9, 0},
		{[]int{9, 10}, 3, 4},
	}
	for _, c := range cases {
		if got := CountAbove(c.xs, c.x); got != c.want {
			t.Fatalf("CountAbove(%v, %d) = %d, want %d", c.xs, c.x, got, c.want)
		}
	}
}
