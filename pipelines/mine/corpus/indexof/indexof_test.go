package indexof

import "testing"

func TestIndexOf(t *testing.T) {
	cases := []struct {
		xs            []int
		x, from, want int
	}{
		{[]int{4, 7, 9}, 7, 0, 1},
		{[]int{4, 7}, 5, 0, -1},
		{[]int{4, 7, 4}, 4, 1, 2},
		{[]int{4, 7}, 4, -3, 0},
		{[]int{6, 6}, 6, 0, 0},
	}
	for _, c := range cases {
		if got := IndexOf(c.xs, c.x, c.from); got != c.want {
			t.Fatalf("IndexOf(%v, %d, %d) = %d, want %d", c.xs, c.x, c.from, got, c.want)
		}
	}
}
