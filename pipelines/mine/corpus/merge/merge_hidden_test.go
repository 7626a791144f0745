package merge

import (
	"slices"
	"testing"
)

type mergeCase struct{ a, b, want []int }

func checkMerge(t *testing.T, cases []mergeCase) {
	t.Helper()
	for _, c := range cases {
		if got := Merge(c.a, c.b); !slices.Equal(got, c.want) {
			t.Fatalf("Merge(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestMergeEmpty(t *testing.T) {
	checkMerge(t, []mergeCase{
		{nil, nil, nil},
	})
}

func TestMergeLeft(t *testing.T) {
	checkMerge(t, []mergeCase{
		{[]int{1, 2}, nil, []int{1, 2}},
	})
}

func TestMergeRight(t *testing.T) {
	checkMerge(t, []mergeCase{
		{nil, []int{1, 2}, []int{1, 2}},
	})
}

func TestMergeApart(t *testing.T) {
	checkMerge(t, []mergeCase{
		{[]int{1, 2}, []int{3, 4}, []int{1, 2, 3, 4}},
		{[]int{8, 9}, []int{1}, []int{1, 8, 9}},
	})
}

func TestMergeEqual(t *testing.T) {
	checkMerge(t, []mergeCase{
		{[]int{2, 2}, []int{2}, []int{2, 2, 2}},
	})
}
