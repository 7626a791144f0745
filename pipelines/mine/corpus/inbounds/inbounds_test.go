package inbounds

import "testing"

func TestInBounds(t *testing.T) {
	cases := []struct {
		x, y, w, h int
		want       bool
	}{
		{1, 1, 3, 3, true},
		{0, 0, 2, 2, true},
		{-1, 0, 2, 2, false},
		{0, -1, 2, 2, false},
		{3, 0, 3, 5, false},
		{0, 3, 5, 3, false},
		{2, 4, 3, 5, true},
	}
	for _, c := range cases {
		if got := InBounds(c.x, c.y, c.w, c.h); got != c.want {
			t.Fatalf("InBounds(%d, %d, %d, %d) = %t, want %t", c.x, c.y, c.w, c.h, got, c.want)
		}
	}
}
