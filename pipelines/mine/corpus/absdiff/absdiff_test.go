package absdiff

import "testing"

func TestAbsDiff(t *testing.T) {
	cases := []struct{ x, y, want int }{
		{7, 3, 4},
		{3, 7, 4},
		{300, 1, 100},
		{0, 100, 100},
		{101, 0, 100},
		{1, 101, 100},
	}
	for _, c := range cases {
		if got := AbsDiff(c.x, c.y); got != c.want {
			t.Fatalf("AbsDiff(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}
