package clock

import "testing"

func TestClock(t *testing.T) {
	cases := []struct{ h, m, n, want int }{
		{1, 30, 15, 105},
		{23, 59, 1, 0},
		{0, 0, -1, 1439},
		{12, 0, 0, 720},
		{0, 5, -5, 0},
		{23, 0, 180, 120},
	}
	for _, c := range cases {
		if got := Clock(c.h, c.m, c.n); got != c.want {
			t.Fatalf("Clock(%d, %d, %d) = %d, want %d", c.h, c.m, c.n, got, c.want)
		}
	}
}
