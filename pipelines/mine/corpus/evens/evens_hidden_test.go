package evens

import "testing"

type evensCase struct{ lo, hi, want int }

func checkEvens(t *testing.T, cases []evensCase) {
	t.Helper()
	for _, c := range cases {
		if got := Evens(c.lo, c.hi); got != c.want {
			t.Fatalf("Evens(%d, %d) = %d, want %d", c.lo, c.hi, got, c.want)
		}
	}
}

func TestEvensEmpty(t *testing.T) {
	checkEvens(t, []evensCase{
		{9, 8, 0},
		{0, -1, 0},
	})
}

func TestEvensOne(t *testing.T) {
	checkEvens(t, []evensCase{
		{6, 6, 6},
		{7, 7, 0},
	})
}

func TestEvensEven(t *testing.T) {
	checkEvens(t, []evensCase{
		{2, 6, 12},
	})
}

func TestEvensOdd(t *testing.T) {
	checkEvens(t, []evensCase{
		{1, 5, 6},
	})
}

func TestEvensLong(t *testing.T) {
	checkEvens(t, []evensCase{
		{0, 100, 2550},
	})
}
