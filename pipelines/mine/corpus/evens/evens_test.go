package evens

import "testing"

func TestEvens(t *testing.T) {
	cases := []struct{ lo, hi, want int }{
		{1, 6, 12},
		{2, 2, 2},
		{3, 3, 0},
		{5, 1, 0},
		{4, 8, 18},
		{1, 3, 2},
	}
	for _, c := range cases {
		if got := Evens(c.lo, c.hi); got != c.want {
			t.Fatalf("Evens(%d, %d) = %d, want %d", c.lo, c.hi, got, c.want)
		}
	}
}
