package second

import "testing"

func TestSecond(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{3, 9, 7}, 7},
		{[]int{9, 7, 8}, 8},
		{nil, -1},
		{[]int{4, 4}, -1},
		{[]int{1, 2}, 1},
		{[]int{5, 0}, 0},
	}
	for _, c := range cases {
		if got := Second(c.xs); got != c.want {
			t.Fatalf("Second(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}
