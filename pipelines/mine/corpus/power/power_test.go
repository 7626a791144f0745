package power

import "testing"

func TestPower(t *testing.T) {
	cases := []struct{ x, n, want int }{
		{2, 3, 8},
		{5, 0, 1},
		{3, 1, 3},
		{2, -1, 0},
		{-2, 2, 4},
		{1, 9, 1},
	}
	for _, c := range cases {
		if got := Power(c.x, c.n); got != c.want {
			t.Fatalf("Power(%d, %d) = %d, want %d", c.x, c.n, got, c.want)
		}
	}
}
