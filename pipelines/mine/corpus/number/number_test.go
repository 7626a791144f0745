package number

import "testing"

func TestNumber(t *testing.T) {
	cases := []struct {
		s    string
		want int
	}{
		{"42", 42},
		{"7", 7},
		{"", 0},
		{"1a", -1},
		{"190", 190},
		{"-3", -1},
		{"5:", -1},
		{"4/", -1},
	}
	for _, c := range cases {
		if got := Number(c.s); got != c.want {
			t.Fatalf("Number(%q) = %d, want %d", c.s, got, c.want)
		}
	}
}
