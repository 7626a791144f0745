package prefix

import (
	"slices"
	"testing"
)

type prefixCase struct {
	xs    []int
	limit int
	want  []int
}

func checkPrefix(t *testing.T, cases []prefixCase) {
	t.Helper()
	for _, c := range cases {
		if got := Prefix(c.xs, c.limit); !slices.Equal(got, c.want) {
			t.Fatalf("Prefix(%v, %d) = %v, want %v", c.xs, c.limit, got, c.want)
		}
	}
}

func TestPrefixEmpty(t *testing.T) {
	checkPrefix(t, []prefixCase{
		{nil, 0, nil},
	})
}

func TestPrefixZero(t *testing.T) {
	checkPrefix(t, []prefixCase{
		{[]int{0, 0}, 0, []int{0, 0}},
	})
}

func TestPrefixFree(t *testing.T) {
	checkPrefix(t, []prefixCase{
		{[]int{4, 4}, 99, []int{4, 8}},
	})
}

func TestPrefixExact(t *testing.T) {
	checkPrefix(t, []prefixCase{
		{[]int{4, 4}, 8, []int{4, 8}},
	})
}

func TestPrefixLimited(t *testing.T) {
	checkPrefix(t, []prefixCase{
		{[]int{9, 9}, 10, []int{9, 10}},
		{[]int{6, -2, 1}, 3, []int{3, 1, 2}},
	})
}
