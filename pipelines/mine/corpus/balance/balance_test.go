package balance

import "testing"

func TestBalance(t *testing.T) {
	cases := []struct {
		s    string
		want bool
	}{
		{"(a)(b)", true},
		{"((a)", false},
		{"a)", false},
		{")(", false},
		{"", true},
		{"x", true},
		{"(())", true},
	}
	for _, c := range cases {
		if got := Balance(c.s); got != c.want {
			t.Fatalf("Balance(%q) = %t, want %t", c.s, got, c.want)
		}
	}
}
