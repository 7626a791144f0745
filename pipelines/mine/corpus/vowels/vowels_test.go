package vowels

import "testing"

func TestVowels(t *testing.T) {
	cases := []struct {
		s       string
		n, want int
	}{
		{"hello", 9, 2},
		{"hello", 4, 1},
		{"aeiou", 5, 5},
		{"xyz", 3, 0},
		{"eagle", 1, 1},
		{"iii", 2, 2},
	}
	for _, c := range cases {
		if got := Vowels(c.s, c.n); got != c.want {
			t.Fatalf("Vowels(%q, %d) = %d, want %d", c.s, c.n, got, c.want)
		}
	}
}
