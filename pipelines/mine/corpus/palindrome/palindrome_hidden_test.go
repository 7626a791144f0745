package palindrome

import "testing"

type palindromeCase struct {
	s    string
	want bool
}

func checkPalindrome(t *testing.T, cases []palindromeCase) {
	t.Helper()
	for _, c := range cases {
		if got := Palindrome(c.s); got != c.want {
			t.Fatalf("Palindrome(%q) = %t, want %t", c.s, got, c.want)
		}
	}
}

func TestPalindromeEmpty(t *testing.T) {
	checkPalindrome(t, []palindromeCase{
		{"", true},
	})
}

func TestPalindromeOne(t *testing.T) {
	checkPalindrome(t, []palindromeCase{
		{"x", true},
	})
}

func TestPalindromeEven(t *testing.T) {
	checkPalindrome(t, []palindromeCase{
		{"abba", true},
		{"aa", true},
	})
}

func TestPalindromeOdd(t *testing.T) {
	checkPalindrome(t, []palindromeCase{
		{"racecar", true},
	})
}

func TestPalindromeMiddle(t *testing.T) {
	checkPalindrome(t, []palindromeCase{
		{"axba", false},
		{"abcdba", false},
	})
}

func TestPalindromeEnds(t *testing.T) {
	checkPalindrome(t, []palindromeCase{
		{"abcd", false},
		{"xbbz", false},
	})
}
