package roundup

import "testing"

func TestRoundUp(t *testing.T) {
	cases := []struct{ x, m, want int }{
		{7, 5, 10},
		{10, 5, 10},
		{1, 4, 4},
		{0, 3, 0},
		{6, 4, 8},
		{5, 1, 5},
	}
	for _, c := range cases {
		if got := RoundUp(c.x, c.m); got != c.want {
			t.Fatalf("RoundUp(%d, %d) = %d, want %d", c.x, c.m, got, c.want)
		}
	}
}
