package minindex

import "testing"

type minIndexCase struct {
	xs   []int
	want int
}

func checkMinIndex(t *testing.T, cases []minIndexCase) {
	t.Helper()
	for _, c := range cases {
		if got := MinIndex(c.xs); got != c.want {
			t.Fatalf("MinIndex(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestMinIndexEmpty(t *testing.T) {
	checkMinIndex(t, []minIndexCase{
		{nil, -1},
		{[]int{}, -1},
	})
}

func TestMinIndexOne(t *testing.T) {
	checkMinIndex(t, []minIndexCase{
		{[]int{7}, 0},
	})
}

func TestMinIndexFirst(t *testing.T) {
	checkMinIndex(t, []minIndexCase{
		{[]int{1, 2, 3}, 0},
		{[]int{0, 0, 0}, 0},
	})
}

func TestMinIndexLast(t *testing.T) {
	checkMinIndex(t, []minIndexCase{
		{[]int{3, 2, 1}, 2},
		{[]int{9, 8}, 1},
	})
}

func TestMinIndexEqual(t *testing.T) {
	checkMinIndex(t, []minIndexCase{
		{[]int{5, 1, 1, 1}, 1},
	})
}
