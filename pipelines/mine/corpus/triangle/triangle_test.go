package triangle

import "testing"

func TestTriangle(t *testing.T) {
	cases := []struct{ a, b, c, want int }{
		{3, 4, 5, 0},
		{2, 2, 2, 3},
		{2, 2, 3, 2},
		{3, 2, 2, 2},
		{2, 3, 2, 2},
		{1, 2, 3, -1},
		{1, 3, 2, -1},
		{3, 1, 2, -1},
	}
	for _, c := range cases {
		if got := Triangle(c.a, c.b, c.c); got != c.want {
			t.Fatalf("Triangle(%d, %d, %d) = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
}
