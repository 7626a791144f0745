package digits

import "testing"

func TestDigits(t *testing.T) {
	cases := []struct{ n, b, want int }{
		{123, 10, 3},
		{7, 10, 1},
		{10, 10, 2},
		{-45, 10, 2},
		{8, 2, 4},
		{0, 10, 1},
	}
	for _, c := range cases {
		if got := Digits(c.n, c.b); got != c.want {
			t.Fatalf("Digits(%d, %d) = %d, want %d", c.n, c.b, got, c.want)
		}
	}
}
