package words

import "testing"

type wordsCase struct {
	s    string
	want int
}

func checkWords(t *testing.T, cases []wordsCase) {
	t.Helper()
	for _, c := range cases {
		if got := Words(c.s); got != c.want {
			t.Fatalf("Words(%q) = %d, want %d", c.s, got, c.want)
		}
	}
}

func TestWordsEmpty(t *testing.T) {
	checkWords(t, []wordsCase{
		{"", 0},
	})
}

func TestWordsSpaces(t *testing.T) {
	checkWords(t, []wordsCase{
		{" ", 0},
		{"   ", 0},
	})
}

func TestWordsOne(t *testing.T) {
	checkWords(t, []wordsCase{
		{"word", 1},
	})
}

func TestWordsAround(t *testing.T) {
	checkWords(t, []wordsCase{
		{" word ", 1},
	})
}

func TestWordsMany(t *testing.T) {
	checkWords(t, []wordsCase{
		{"the quick brown fox", 4},
	})
}

func TestWordsGap(t *testing.T) {
	checkWords(t, []wordsCase{
		{"a  b", 2},
	})
}
