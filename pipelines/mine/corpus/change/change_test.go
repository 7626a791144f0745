package change

import "testing"

func TestChange(t *testing.T) {
	cases := []struct{ x, want int }{
		{17, 4},
		{5, 1},
		{4, 4},
		{20, 2},
		{9, 5},
		{36, 5},
		{0, 0},
	}
	for _, c := range cases {
		if got := Change(c.x); got != c.want {
			t.Fatalf("Change(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}
