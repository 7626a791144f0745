package peak

import "testing"

func TestPeak(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{1, 5, 2}, 1},
		{[]int{1, 2, 3}, 0},
		{[]int{3, 2, 1}, 0},
		{[]int{1, 4, 1, 4, 1}, 2},
		{[]int{2, 2, 1}, 0},
		{nil, 0},
		{[]int{1, 2, 2, 1}, 0},
	}
	for _, c := range cases {
		if got := Peak(c.xs); got != c.want {
			t.Fatalf("Peak(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}
