package isqrt

import "testing"

func TestISqrt(t *testing.T) {
	cases := []struct{ x, want int }{
		{9, 3},
		{8, 2},
		{0, 0},
		{1, 1},
		{-4, 0},
		{16, 4},
		{10, 3},
	}
	for _, c := range cases {
		if got := ISqrt(c.x); got != c.want {
			t.Fatalf("ISqrt(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}
