package digits

import "testing"

type digitsCase struct{ n, b, want int }

func checkDigits(t *testing.T, cases []digitsCase) {
	t.Helper()
	for _, c := range cases {
		if got := Digits(c.n, c.b); got != c.want {
			t.Fatalf("Digits(%d, %d) = %d, want %d", c.n, c.b, got, c.want)
		}
	}
}

func TestDigitsZero(t *testing.T) {
	checkDigits(t, []digitsCase{
		{0, 2, 1},
	})
}

func TestDigitsOne(t *testing.T) {
	checkDigits(t, []digitsCase{
		{9, 10, 1},
		{1, 2, 1},
	})
}

func TestDigitsEdge(t *testing.T) {
	checkDigits(t, []digitsCase{
		{99, 10, 2},
		{100, 10, 3},
	})
}

func TestDigitsNegative(t *testing.T) {
	checkDigits(t, []digitsCase{
		{-9, 10, 1},
		{-10, 10, 2},
	})
}

func TestDigitsBinary(t *testing.T) {
	checkDigits(t, []digitsCase{
		{3, 2, 2},
		{4, 2, 3},
		{255, 2, 8},
	})
}
