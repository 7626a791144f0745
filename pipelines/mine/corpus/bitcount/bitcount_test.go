package bitcount

import "testing"

func TestBitCount(t *testing.T) {
	cases := []struct{ x, want int }{
		{5, 2},
		{8, 1},
		{7, 3},
		{0, 0},
		{1, 1},
		{10, 2},
		{3, 2},
	}
	for _, c := range cases {
		if got := BitCount(c.x); got != c.want {
			t.Fatalf("BitCount(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}
