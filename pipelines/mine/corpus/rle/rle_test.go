package rle

import "testing"

func TestRLE(t *testing.T) {
	cases := []struct {
		s    string
		want int
	}{
		{"aab", 3},
		{"", 0},
		{"abc", 3},
		{"aaaa", 2},
		{"abb", 3},
		{"xxyyz", 5},
	}
	for _, c := range cases {
		if got := RLE(c.s); got != c.want {
			t.Fatalf("RLE(%q) = %d, want %d", c.s, got, c.want)
		}
	}
}
