package maxsub

import "testing"

type maxSubCase struct {
	xs   []int
	want int
}

func checkMaxSub(t *testing.T, cases []maxSubCase) {
	t.Helper()
	for _, c := range cases {
		if got := MaxSub(c.xs); got != c.want {
			t.Fatalf("MaxSub(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestMaxSubEmpty(t *testing.T) {
	checkMaxSub(t, []maxSubCase{
		{nil, 0},
	})
}

func TestMaxSubNegative(t *testing.T) {
	checkMaxSub(t, []maxSubCase{
		{[]int{-4, -1}, 0},
	})
}

func TestMaxSubAll(t *testing.T) {
	checkMaxSub(t, []maxSubCase{
		{[]int{1, 1, 1}, 3},
	})
}

func TestMaxSubFirst(t *testing.T) {
	checkMaxSub(t, []maxSubCase{
		{[]int{8, -9, 2}, 8},
	})
}

func TestMaxSubLast(t *testing.T) {
	checkMaxSub(t, []maxSubCase{
		{[]int{2, -9, 8}, 8},
	})
}

func TestMaxSubBridge(t *testing.T) {
	checkMaxSub(t, []maxSubCase{
		{[]int{5, -2, 4}, 7},
	})
}
