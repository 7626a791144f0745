package median

import "testing"

func TestMedian(t *testing.T) {
	cases := []struct{ a, b, c, want int }{
		{1, 2, 3, 2},
		{3, 1, 2, 2},
		{2, 3, 1, 2},
		{5, 9, 7, 7},
		{9, 5, 1, 5},
	}
	for _, c := range cases {
		if got := Median(c.a, c.b, c.c); got != c.want {
			t.Fatalf("Median(%d, %d, %d) = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
}
