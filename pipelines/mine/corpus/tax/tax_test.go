package tax

import "testing"

func TestTax(t *testing.T) {
	cases := []struct{ x, want int }{
		{50, 0},
		{100, 0},
		{110, 1},
		{300, 20},
		{500, 40},
		{505, 41},
		{1000, 140},
		{101, 0},
	}
	for _, c := range cases {
		if got := Tax(c.x); got != c.want {
			t.Fatalf("Tax(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}
