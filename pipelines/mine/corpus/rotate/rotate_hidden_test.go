package rotate

import (
	"slices"
	"testing"
)

type rotateCase struct {
	xs   []int
	n    int
	want []int
}

func checkRotate(t *testing.T, cases []rotateCase) {
	t.Helper()
	for _, c := range cases {
		if got := Rotate(c.xs, c.n); !slices.Equal(got, c.want) {
			t.Fatalf("Rotate(%v, %d) = %v, want %v", c.xs, c.n, got, c.want)
		}
	}
}

func TestRotateEmpty(t *testing.T) {
	checkRotate(t, []rotateCase{
		{nil, 0, nil},
	})
}

func TestRotateNone(t *testing.T) {
	checkRotate(t, []rotateCase{
		{[]int{1, 2, 3}, 0, []int{1, 2, 3}},
	})
}

func TestRotateOne(t *testing.T) {
	checkRotate(t, []rotateCase{
		{[]int{9}, 1, []int{9}},
	})
}

func TestRotateSome(t *testing.T) {
	checkRotate(t, []rotateCase{
		{[]int{1, 2, 3, 4}, 3, []int{4, 1, 2, 3}},
	})
}

func TestRotateAround(t *testing.T) {
	checkRotate(t, []rotateCase{
		{[]int{1, 2, 3}, 4, []int{2, 3, 1}},
		{[]int{1, 2}, 2, []int{1, 2}},
	})
}
