package factorial

import "testing"

func TestFactorial(t *testing.T) {
	cases := []struct{ n, want int }{
		{4, 24},
		{1, 1},
		{0, 1},
		{2, 2},
		{3, 6},
		{6, 720},
	}
	for _, c := range cases {
		if got := Factorial(c.n); got != c.want {
			t.Fatalf("Factorial(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}
