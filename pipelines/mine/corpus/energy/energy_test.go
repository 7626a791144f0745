package energy

import "testing"

func TestEnergy(t *testing.T) {
	cases := []struct{ a, b, limit, want int }{
		{1, 3, 99, 6},
		{3, 1, 99, 2},
		{4, 4, 9, 0},
		{0, 9, 10, 10},
		{9, 0, 5, 5},
		{2, 3, 7, 3},
	}
	for _, c := range cases {
		if got := Energy(c.a, c.b, c.limit); got != c.want {
			t.Fatalf("Energy(%d, %d, %d) = %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
	}
}
