package second

import "testing"

type secondCase struct {
	xs   []int
	want int
}

func checkSecond(t *testing.T, cases []secondCase) {
	t.Helper()
	for _, c := range cases {
		if got := Second(c.xs); got != c.want {
			t.Fatalf("Second(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestSecondEmpty(t *testing.T) {
	checkSecond(t, []secondCase{
		{nil, -1},
	})
}

func TestSecondOne(t *testing.T) {
	checkSecond(t, []secondCase{
		{[]int{6}, -1},
	})
}

func TestSecondSame(t *testing.T) {
	checkSecond(t, []secondCase{
		{[]int{6, 6, 6}, -1},
	})
}

func TestSecondUp(t *testing.T) {
	checkSecond(t, []secondCase{
		{[]int{1, 2, 3}, 2},
	})
}

func TestSecondDown(t *testing.T) {
	checkSecond(t, []secondCase{
		{[]int{9, 5, 1}, 5},
		{[]int{9, 1, 5}, 5},
	})
}

func TestSecondZero(t *testing.T) {
	checkSecond(t, []secondCase{
		{[]int{0, 8}, 0},
		{[]int{8, 0}, 0},
	})
}
