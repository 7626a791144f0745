package fib

import "testing"

func TestFib(t *testing.T) {
	cases := []struct{ n, want int }{
		{6, 8},
		{1, 1},
		{0, 0},
		{2, 1},
		{3, 2},
		{10, 55},
	}
	for _, c := range cases {
		if got := Fib(c.n); got != c.want {
			t.Fatalf("Fib(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}
