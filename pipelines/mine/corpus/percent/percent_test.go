package percent

import "testing"

func TestPercent(t *testing.T) {
	cases := []struct{ x, total, want int }{
		{1, 2, 50},
		{2, 3, 67},
		{1, 3, 33},
		{5, 0, 0},
		{0, 8, 0},
		{7, 7, 100},
		{1, 1, 100},
	}
	for _, c := range cases {
		if got := Percent(c.x, c.total); got != c.want {
			t.Fatalf("Percent(%d, %d) = %d, want %d", c.x, c.total, got, c.want)
		}
	}
}
