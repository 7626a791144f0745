package vowels

import "testing"

type vowelsCase struct {
	s       string
	n, want int
}

func checkVowels(t *testing.T, cases []vowelsCase) {
	t.Helper()
	for _, c := range cases {
		if got := Vowels(c.s, c.n); got != c.want {
			t.Fatalf("Vowels(%q, %d) = %d, want %d", c.s, c.n, got, c.want)
		}
	}
}

func TestVowelsEmpty(t *testing.T) {
	checkVowels(t, []vowelsCase{
		{"", 3, 0},
		{"abc", 0, 0},
	})
}

func TestVowelsNone(t *testing.T) {
	checkVowels(t, []vowelsCase{
		{"rhythm", 6, 0},
	})
}

func TestVowelsEach(t *testing.T) {
	checkVowels(t, []vowelsCase{
		{"a", 1, 1},
		{"e", 1, 1},
		{"i", 1, 1},
		{"o", 1, 1},
		{"u", 1, 1},
	})
}

func TestVowelsCut(t *testing.T) {
	checkVowels(t, []vowelsCase{
		{"banana", 3, 1},
		{"banana", 4, 2},
	})
}

func TestVowelsLong(t *testing.T) {
	checkVowels(t, []vowelsCase{
		{"banana", 99, 3},
	})
}
