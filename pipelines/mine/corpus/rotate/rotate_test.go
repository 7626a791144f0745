package rotate

import (
	"slices"
	"testing"
)

func TestRotate(t *testing.T) {
	cases := []struct {
		xs   []int
		n    int
		want []int
	}{
		{[]int{1, 2, 3}, 1, []int{2, 3, 1}},
		{[]int{4, 5}, 0, []int{4, 5}},
		{[]int{6, 7}, 3, []int{7, 6}},
		{nil, 2, nil},
		{[]int{8}, 5, []int{8}},
	}
	for _, c := range cases {
		if got := Rotate(c.xs, c.n); !slices.Equal(got, c.want) {
			t.Fatalf("Rotate(%v, %d) = %v, want %v", c.xs, c.n, got, c.want)
		}
	}
}
