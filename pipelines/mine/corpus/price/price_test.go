package price

import "testing"

func TestPrice(t *testing.T) {
	cases := []struct{ n, x, want int }{
		{2, 3, 11},
		{10, 10, 90},
		{5, 10, 50},
		{9, 10, 90},
		{10, 5, 50},
		{7, 7, 54},
		{11, 10, 99},
	}
	for _, c := range cases {
		if got := Price(c.n, c.x); got != c.want {
			t.Fatalf("Price(%d, %d) = %d, want %d", c.n, c.x, got, c.want)
		}
	}
}
