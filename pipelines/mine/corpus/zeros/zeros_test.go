package zeros

import "testing"

func TestZeros(t *testing.T) {
	cases := []struct{ n, want int }{
		{10, 2},
		{4, 0},
		{5, 1},
		{25, 6},
		{24, 4},
		{0, 0},
		{30, 7},
	}
	for _, c := range cases {
		if got := Zeros(c.n); got != c.want {
			t.Fatalf("Zeros(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}
