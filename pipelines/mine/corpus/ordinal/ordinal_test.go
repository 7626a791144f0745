package ordinal

import "testing"

func TestOrdinal(t *testing.T) {
	cases := []struct {
		n    int
		want string
	}{
		{1, "st"},
		{2, "nd"},
		{3, "rd"},
		{4, "th"},
		{11, "th"},
		{13, "th"},
		{21, "st"},
		{112, "th"},
	}
	for _, c := range cases {
		if got := Ordinal(c.n); got != c.want {
			t.Fatalf("Ordinal(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}
