package pages

import "testing"

func TestPages(t *testing.T) {
	cases := []struct{ n, size, want int }{
		{10, 3, 4},
		{9, 3, 3},
		{0, 5, 1},
		{1, 5, 1},
		{5, 5, 1},
		{6, 4, 2},
	}
	for _, c := range cases {
		if got := Pages(c.n, c.size); got != c.want {
			t.Fatalf("Pages(%d, %d) = %d, want %d", c.n, c.size, got, c.want)
		}
	}
}
