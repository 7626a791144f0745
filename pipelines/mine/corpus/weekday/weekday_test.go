package weekday

import "testing"

func TestWeekday(t *testing.T) {
	cases := []struct{ d, n, want int }{
		{3, 2, 5},
		{6, 1, 0},
		{0, -1, 6},
		{2, 14, 2},
		{1, -3, 5},
		{4, 2, 6},
		{3, -3, 0},
	}
	for _, c := range cases {
		if got := Weekday(c.d, c.n); got != c.want {
			t.Fatalf("Weekday(%d, %d) = %d, want %d", c.d, c.n, got, c.want)
		}
	}
}
