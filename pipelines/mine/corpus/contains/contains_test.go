package contains

import "testing"

func TestContains(t *testing.T) {
	cases := []struct {
		xs   []int
		x, n int
		want bool
	}{
		{[]int{4, 7, 4}, 4, 2, true},
		{[]int{4, 7}, 4, 2, false},
		{[]int{7}, 7, 1, true},
		{[]int{3, 3, 3}, 3, 1, true},
		{nil, 5, 0, true},
		{[]int{1}, 5, 1, false},
	}
	for _, c := range cases {
		if got := Contains(c.xs, c.x, c.n); got != c.want {
			t.Fatalf("Contains(%v, %d, %d) = %t, want %t", c.xs, c.x, c.n, got, c.want)
		}
	}
}
