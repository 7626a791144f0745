package clamp

import "testing"

func TestClamp(t *testing.T) {
	cases := []struct{ x, lo, hi, want int }{
		{5, 0, 3, 3},
		{-2, 0, 3, 0},
		{2, 0, 3, 2},
		{2, 4, 1, 4},
	}
	for _, c := range cases {
		if got := Clamp(c.x, c.lo, c.hi); got != c.want {
			t.Fatalf("Clamp(%d, %d, %d) = %d, want %d", c.x, c.lo, c.hi, got, c.want)
		}
	}
}
