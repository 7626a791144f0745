package prefix

import (
	"slices"
	"testing"
)

func TestPrefix(t *testing.T) {
	cases := []struct {
		xs    []int
		limit int
		want  []int
	}{
		{[]int{1, 2, 3}, 9, []int{1, 3, 6}},
		{[]int{5, 5}, 7, []int{5, 7}},
		{nil, 4, nil},
		{[]int{8, -1}, 5, []int{5, 4}},
	}
	for _, c := range cases {
		if got := Prefix(c.xs, c.limit); !slices.Equal(got, c.want) {
			t.Fatalf("Prefix(%v, %d) = %v, want %v", c.xs, c.limit, got, c.want)
		}
	}
}
