package digitsum

import "testing"

type digitSumCase struct{ n, want int }

func checkDigitSum(t *testing.T, cases []digitSumCase) {
	t.Helper()
	for _, c := range cases {
		if got := DigitSum(c.n); got != c.want {
			t.Fatalf("DigitSum(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}

func TestDigitSumZero(t *testing.T) {
	checkDigitSum(t, []digitSumCase{
		{0, 0},
	})
}

func TestDigitSumDigit(t *testing.T) {
	checkDigitSum(t, []digitSumCase{
		{1, 1},
		{9, 9},
	})
}

func TestDigitSumNegative(t *testing.T) {
	checkDigitSum(t, []digitSumCase{
		{-1, 1},
		{-20, 2},
	})
}

func TestDigitSumMany(t *testing.T) {
	checkDigitSum(t, []digitSumCase{
		{99, 18},
		{1001, 2},
	})
}

func TestDigitSumLong(t *testing.T) {
	checkDigitSum(t, []digitSumCase{
		{987654, 39},
	})
}
