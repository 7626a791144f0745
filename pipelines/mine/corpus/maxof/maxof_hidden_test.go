package maxof

import "testing"

type maxCase struct {
	xs   []int
	want int
}

func checkMax(t *testing.T, cases []maxCase) {
	t.Helper()
	for _, c := range cases {
		if got := Max(c.xs); got != c.want {
			t.Fatalf("Max(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestMaxEmpty(t *testing.T) {
	checkMax(t, []maxCase{
		{nil, 0},
		{[]int{}, 0},
	})
}

func TestMaxOne(t *testing.T) {
	checkMax(t, []maxCase{
		{[]int{-3}, -3},
		{[]int{8}, 8},
	})
}

func TestMaxFirst(t *testing.T) {
	checkMax(t, []maxCase{
		{[]int{9, 1, 2}, 9},
		{[]int{5, 5}, 5},
	})
}

func TestMaxLast(t *testing.T) {
	checkMax(t, []maxCase{
		{[]int{1, 2, 9}, 9},
		{[]int{-3, -2, -1}, -1},
	})
}

func TestMaxSecond(t *testing.T) {
	checkMax(t, []maxCase{
		{[]int{1, 7}, 7},
		{[]int{-4, 3, 2}, 3},
	})
}
