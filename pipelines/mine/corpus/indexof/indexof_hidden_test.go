package indexof

import "testing"

type indexOfCase struct {
	xs            []int
	x, from, want int
}

func checkIndexOf(t *testing.T, cases []indexOfCase) {
	t.Helper()
	for _, c := range cases {
		if got := IndexOf(c.xs, c.x, c.from); got != c.want {
			t.Fatalf("IndexOf(%v, %d, %d) = %d, want %d", c.xs, c.x, c.from, got, c.want)
		}
	}
}

func TestIndexOfMissing(t *testing.T) {
	checkIndexOf(t, []indexOfCase{
		{nil, 1, 0, -1},
		{[]int{2, 2}, 3, 0, -1},
	})
}

func TestIndexOfBeyond(t *testing.T) {
	checkIndexOf(t, []indexOfCase{
		{[]int{1}, 1, 1, -1},
		{[]int{1, 1}, 1, 5, -1},
	})
}

func TestIndexOfFound(t *testing.T) {
	checkIndexOf(t, []indexOfCase{
		{[]int{1, 2, 3}, 1, 0, 0},
		{[]int{1, 2, 3}, 3, 0, 2},
	})
}

func TestIndexOfFrom(t *testing.T) {
	checkIndexOf(t, []indexOfCase{
		{[]int{8, 8, 8}, 8, 2, 2},
		{[]int{8, 3, 8}, 8, 1, 2},
	})
}

func TestIndexOfNegative(t *testing.T) {
	checkIndexOf(t, []indexOfCase{
		{[]int{8, 3}, 8, -1, 0},
		{[]int{8, 3}, 3, -9, 1},
	})
}
