package partition

import (
	"slices"
	"testing"
)

func TestPartition(t *testing.T) {
	cases := []struct {
		xs   []int
		x    int
		want []int
	}{
		{[]int{5, 1, 4}, 3, []int{1, 5, 4}},
		{nil, 1, nil},
		{[]int{1, 2}, 9, []int{1, 2}},
		{[]int{3, 1}, 3, []int{1, 3}},
		{[]int{9, 2, 8, 1}, 5, []int{2, 1, 8, 9}},
	}
	for _, c := range cases {
		if got := Partition(c.xs, c.x); !slices.Equal(got, c.want) {
			t.Fatalf("Partition(%v, %d) = %v, want %v", c.xs, c.x, got, c.want)
		}
	}
}
