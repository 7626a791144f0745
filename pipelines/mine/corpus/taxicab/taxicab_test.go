package taxicab

import "testing"

func TestTaxicab(t *testing.T) {
	cases := []struct{ x, y, want int }{
		{3, 4, 8},
		{-3, 4, 8},
		{3, -4, 8},
		{0, 5, 5},
		{5, 0, 5},
		{1, 1, 3},
		{-2, 0, 2},
	}
	for _, c := range cases {
		if got := Taxicab(c.x, c.y); got != c.want {
			t.Fatalf("Taxicab(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}
