package overlap

import "testing"

func TestOverlap(t *testing.T) {
	cases := []struct{ a, b, c, d, want int }{
		{1, 5, 3, 8, 3},
		{3, 8, 1, 5, 3},
		{1, 2, 4, 9, 0},
		{1, 9, 4, 5, 2},
		{1, 4, 4, 6, 1},
	}
	for _, c := range cases {
		if got := Overlap(c.a, c.b, c.c, c.d); got != c.want {
			t.Fatalf("Overlap(%d, %d, %d, %d) = %d, want %d", c.a, c.b, c.c, c.d, got, c.want)
		}
	}
}
