package clamp

import "testing"

type clampCase struct{ x, lo, hi, want int }

func checkClamp(t *testing.T, cases []clampCase) {
	t.Helper()
	for _, c := range cases {
		if got := Clamp(c.x, c.lo, c.hi); got != c.want {
			t.Fatalf("Clamp(%d, %d, %d) = %d, want %d", c.x, c.lo, c.hi, got, c.want)
		}
	}
}

func TestClampInside(t *testing.T) {
	checkClamp(t, []clampCase{
		{1, 0, 3, 1},
		{-4, -9, -1, -4},
	})
}

func TestClampBelow(t *testing.T) {
	checkClamp(t, []clampCase{
		{-7, -5, 5, -5},
		{0, 1, 2, 1},
	})
}

func TestClampAbove(t *testing.T) {
	checkClamp(t, []clampCase{
		{9, -5, 5, 5},
		{3, 1, 2, 2},
	})
}

func TestClampEmpty(t *testing.T) {
	checkClamp(t, []clampCase{
		{9, 5, 4, 5},
		{0, 2, 1, 2},
	})
}
