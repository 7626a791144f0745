package hamming

import "testing"

func TestHamming(t *testing.T) {
	cases := []struct {
		a, b string
		want int
	}{
		{"cat", "cut", 1},
		{"abc", "abc", 0},
		{"ab", "abcd", 2},
		{"xyz", "x", 2},
		{"mad", "sad", 1},
	}
	for _, c := range cases {
		if got := Hamming(c.a, c.b); got != c.want {
			t.Fatalf("Hamming(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
