package binomial

import "testing"

func TestBinomial(t *testing.T) {
	cases := []struct{ n, k, want int }{
		{4, 2, 6},
		{5, 0, 1},
		{3, 4, 0},
		{5, 5, 1},
		{6, 3, 20},
		{3, -1, 0},
		{7, 1, 7},
	}
	for _, c := range cases {
		if got := Binomial(c.n, c.k); got != c.want {
			t.Fatalf("Binomial(%d, %d) = %d, want %d", c.n, c.k, got, c.want)
		}
	}
}
