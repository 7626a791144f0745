package isqrt

import "testing"

type iSqrtCase struct{ x, want int }

func checkISqrt(t *testing.T, cases []iSqrtCase) {
	t.Helper()
	for _, c := range cases {
		if got := ISqrt(c.x); got != c.want {
			t.Fatalf("ISqrt(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}

func TestISqrtZero(t *testing.T) {
	checkISqrt(t, []iSqrtCase{
		{0, 0},
	})
}

func TestISqrtNegative(t *testing.T) {
	checkISqrt(t, []iSqrtCase{
		{-1, 0},
		{-9, 0},
	})
}

func TestISqrtOne(t *testing.T) {
	checkISqrt(t, []iSqrtCase{
		{1, 1},
	})
}

func TestISqrtSquare(t *testing.T) {
	checkISqrt(t, []iSqrtCase{
		{4, 2},
		{25, 5},
		{100, 10},
	})
}

func TestISqrtBetween(t *testing.T) {
	checkISqrt(t, []iSqrtCase{
		{3, 1},
		{24, 4},
		{99, 9},
	})
}
