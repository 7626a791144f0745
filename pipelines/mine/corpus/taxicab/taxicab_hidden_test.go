package taxicab

import "testing"

type taxicabCase struct{ x, y, want int }

func checkTaxicab(t *testing.T, cases []taxicabCase) {
	t.Helper()
	for _, c := range cases {
		if got := Taxicab(c.x, c.y); got != c.want {
			t.Fatalf("Taxicab(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}

func TestTaxicabZero(t *testing.T) {
	checkTaxicab(t, []taxicabCase{
		{0, 0, 0},
	})
}

func TestTaxicabStraight(t *testing.T) {
	checkTaxicab(t, []taxicabCase{
		{7, 0, 7},
		{0, 7, 7},
		{0, -7, 7},
	})
}

func TestTaxicabCorner(t *testing.T) {
	checkTaxicab(t, []taxicabCase{
		{2, 3, 6},
		{1, 2, 4},
		{2, 1, 4},
	})
}

func TestTaxicabNegative(t *testing.T) {
	checkTaxicab(t, []taxicabCase{
		{-2, -3, 6},
		{-1, 5, 7},
	})
}
