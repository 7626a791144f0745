package tally

import "testing"

func TestTally(t *testing.T) {
	cases := []struct {
		n    int
		want string
	}{
		{27, "XXVII"},
		{4, "IIII"},
		{10, "X"},
		{5, "V"},
		{0, ""},
		{9, "VIIII"},
	}
	for _, c := range cases {
		if got := Tally(c.n); got != c.want {
			t.Fatalf("Tally(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}
