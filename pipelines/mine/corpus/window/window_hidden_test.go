package window

import "testing"

type windowCase struct {
	xs      []int
	n, want int
}

func checkWindow(t *testing.T, cases []windowCase) {
	t.Helper()
	for _, c := range cases {
		if got := Window(c.xs, c.n); got != c.want {
			t.Fatalf("Window(%v, %d) = %d, want %d", c.xs, c.n, got, c.want)
		}
	}
}

func TestWindowEmpty(t *testing.T) {
	checkWindow(t, []windowCase{
		{nil, 2, 0},
	})
}

func TestWindowShort(t *testing.T) {
	checkWindow(t, []windowCase{
		{[]int{5}, 2, 0},
		{[]int{5, 6, 7}, 4, 0},
	})
}

func TestWindowWhole(t *testing.T) {
	checkWindow(t, []windowCase{
		{[]int{5, 6}, 2, 11},
		{[]int{8}, 1, 8},
	})
}

func TestWindowFirst(t *testing.T) {
	checkWindow(t, []windowCase{
		{[]int{9, 8, 1, 1}, 2, 17},
	})
}

func TestWindowLast(t *testing.T) {
	checkWindow(t, []windowCase{
		{[]int{1, 1, 8, 9}, 2, 17},
	})
}

func TestWindowSingle(t *testing.T) {
	checkWindow(t, []windowCase{
		{[]int{2, 7, 3}, 1, 7},
	})
}
