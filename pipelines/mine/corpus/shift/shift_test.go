package shift

import "testing"

func TestShift(t *testing.T) {
	cases := []struct {
		c    byte
		n    int
		want byte
	}{
		{'a', 3, 'd'},
		{'z', 1, 'a'},
		{'A', 2, 'A'},
		{'y', 1, 'z'},
		{'~', 5, '~'},
		{'x', 5, 'c'},
		{'a', 25, 'z'},
	}
	for _, c := range cases {
		if got := Shift(c.c, c.n); got != c.want {
			t.Fatalf("Shift(%q, %d) = %q, want %q", c.c, c.n, got, c.want)
		}
	}
}
