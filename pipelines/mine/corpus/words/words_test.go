package words

import "testing"

func TestWords(t *testing.T) {
	cases := []struct {
		s    string
		want int
	}{
		{"a b", 2},
		{"", 0},
		{"one", 1},
		{"  two  words ", 2},
		{" x", 1},
		{"a b c", 3},
	}
	for _, c := range cases {
		if got := Words(c.s); got != c.want {
			t.Fatalf("Words(%q) = %d, want %d", c.s, got, c.want)
		}
	}
}
