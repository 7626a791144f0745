package gcd

import "testing"

func TestGCD(t *testing.T) {
	cases := []struct{ a, b, want int }{
		{12, 18, 6},
		{7, 5, 1},
		{-8, 12, 4},
		{9, 0, 9},
		{0, 4, 4},
		{3, 3, 3},
		{1, 1, 1},
	}
	for _, c := range cases {
		if got := GCD(c.a, c.b); got != c.want {
			t.Fatalf("GCD(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
