package palindrome

import "testing"

func TestPalindrome(t *testing.T) {
	cases := []struct {
		s    string
		want bool
	}{
		{"level", true},
		{"ab", false},
		{"", true},
		{"abca", false},
		{"noon", true},
		{"xaab", false},
	}
	for _, c := range cases {
		if got := Palindrome(c.s); got != c.want {
			t.Fatalf("Palindrome(%q) = %t, want %t", c.s, got, c.want)
		}
	}
}
