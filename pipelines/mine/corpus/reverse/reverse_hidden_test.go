package reverse

import (
	"slices"
	"testing"
)

type reverseCase struct {
	xs   []int
	n    int
	want []int
}

func checkReverse(t *testing.T, cases []reverseCase) {
	t.Helper()
	for _, c := range cases {
		if got := Reverse(c.xs, c.n); !slices.Equal(got, c.want) {
			t.Fatalf("Reverse(%v, %d) = %v, want %v", c.xs, c.n, got, c.want)
		}
	}
}

func TestReverseEmpty(t *testing.T) {
	checkReverse(t, []reverseCase{
		{nil, 0, nil},
		{nil, 3, nil},
	})
}

func TestReverseAll(t *testing.T) {
	checkReverse(t, []reverseCase{
		{[]int{4, 5}, 2, nil},
		{[]int{4, 5}, 7, nil},
	})
}

func TestReverseOne(t *testing.T) {
	checkReverse(t, []reverseCase{
		{[]int{4}, 0, []int{4}},
	})
}

func TestReverseMany(t *testing.T) {
	checkReverse(t, []reverseCase{
		{[]int{4, 5, 6, 7}, 0, []int{7, 6, 5, 4}},
	})
}

func TestReverseCut(t *testing.T) {
	checkReverse(t, []reverseCase{
		{[]int{4, 5, 6, 7}, 1, []int{6, 5, 4}},
		{[]int{4, 5, 6, 7}, 3, []int{4}},
	})
}
