package power

import "testing"

type powerCase struct{ x, n, want int }

func checkPower(t *testing.T, cases []powerCase) {
	t.Helper()
	for _, c := range cases {
		if got := Power(c.x, c.n); got != c.want {
			t.Fatalf("Power(%d, %d) = %d, want %d", c.x, c.n, got, c.want)
		}
	}
}

func TestPowerNegative(t *testing.T) {
	checkPower(t, []powerCase{
		{5, -1, 0},
		{0, -3, 0},
	})
}

func TestPowerZero(t *testing.T) {
	checkPower(t, []powerCase{
		{7, 0, 1},
		{0, 0, 1},
	})
}

func TestPowerOne(t *testing.T) {
	checkPower(t, []powerCase{
		{7, 1, 7},
		{-7, 1, -7},
	})
}

func TestPowerBase(t *testing.T) {
	checkPower(t, []powerCase{
		{0, 3, 0},
		{10, 3, 1000},
	})
}

func TestPowerLarge(t *testing.T) {
	checkPower(t, []powerCase{
		{2, 10, 1024},
		{3, 4, 81},
	})
}
