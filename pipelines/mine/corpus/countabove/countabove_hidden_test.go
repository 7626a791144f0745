package countabove

import "testing"

type countAboveCase struct {
	xs      []int
	x, want int
}

func checkCountAbove(t *testing.T, cases []countAboveCase) {
	t.Helper()
	for _, c := range cases {
		if got := CountAbove(c.xs, c.x); got != c.want {
			t.Fatalf("CountAbove(%v, %d) = %d, want %d", c.xs, c.x, got, c.want)
		}
	}
}

func TestCountAboveEmpty(t *testing.T) {
	checkCountAbove(t, []countAboveCase{
		{nil, 0, 0},
	})
}

func TestCountAboveBelow(t *testing.T) {
	checkCountAbove(t, []countAboveCase{
		{[]int{1, 2, 3}, 3, 0},
		{[]int{0}, 5, 0},
	})
}

func TestCountAboveAbove(t *testing.T) {
	checkCountAbove(t, []countAboveCase{
		{[]int{4, 5, 6}, 3, 3},
	})
}

func TestCountAboveDouble(t *testing.T) {
	checkCountAbove(t, []countAboveCase{
		{[]int{7, 8}, 3, 4},
		{[]int{6}, 3, 1},
		{[]int{1}, 0, 2},
	})
}

func TestCountAboveMixed(t *testing.T) {
	checkCountAbove(t, []countAboveCase{
		{[]int{5, 10, 11, 20}, 5, 5},
	})
}
