package digitsum

import "testing"

func TestDigitSum(t *testing.T) {
	cases := []struct{ n, want int }{
		{123, 6},
		{-45, 9},
		{0, 0},
		{7, 7},
		{90, 9},
		{10, 1},
		{11, 2},
	}
	for _, c := range cases {
		if got := DigitSum(c.n); got != c.want {
			t.Fatalf("DigitSum(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}
