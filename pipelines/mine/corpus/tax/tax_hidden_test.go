package tax

import "testing"

type taxCase struct{ x, want int }

func checkTax(t *testing.T, cases []taxCase) {
	t.Helper()
	for _, c := range cases {
		if got := Tax(c.x); got != c.want {
			t.Fatalf("Tax(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}

func TestTaxZero(t *testing.T) {
	checkTax(t, []taxCase{
		{0, 0},
		{-9, 0},
	})
}

func TestTaxFree(t *testing.T) {
	checkTax(t, []taxCase{
		{99, 0},
		{100, 0},
	})
}

func TestTaxTenth(t *testing.T) {
	checkTax(t, []taxCase{
		{120, 2},
		{499, 39},
		{500, 40},
	})
}

func TestTaxFifth(t *testing.T) {
	checkTax(t, []taxCase{
		{510, 42},
		{700, 80},
	})
}

func TestTaxHigh(t *testing.T) {
	checkTax(t, []taxCase{
		{5500, 1040},
	})
}
