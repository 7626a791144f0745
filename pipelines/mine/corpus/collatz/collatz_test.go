package collatz

import "testing"

func TestCollatz(t *testing.T) {
	cases := []struct{ n, want int }{
		{6, 8},
		{1, 0},
		{2, 1},
		{3, 7},
		{8, 3},
		{0, 0},
	}
	for _, c := range cases {
		if got := Collatz(c.n); got != c.want {
			t.Fatalf("Collatz(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}
