package window

import "testing"

func TestWindow(t *testing.T) {
	cases := []struct {
		xs      []int
		n, want int
	}{
		{[]int{1, 5, 2, 3}, 2, 7},
		{[]int{4, 1}, 1, 4},
		{[]int{3, 4}, 3, 0},
		{[]int{1, 1, 1}, 3, 3},
		{[]int{9, 1, 1}, 3, 11},
		{[]int{2, 3, 9}, 1, 9},
	}
	for _, c := range cases {
		if got := Window(c.xs, c.n); got != c.want {
			t.Fatalf("Window(%v, %d) = %d, want %d", c.xs, c.n, got, c.want)
		}
	}
}
