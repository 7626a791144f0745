package reverse

import (
	"slices"
	"testing"
)

func TestReverse(t *testing.T) {
	cases := []struct {
		xs   []int
		n    int
		want []int
	}{
		{[]int{1, 2, 3}, 0, []int{3, 2, 1}},
		{[]int{1, 2, 3}, 1, []int{2, 1}},
		{[]int{7}, 0, []int{7}},
		{nil, 0, nil},
		{[]int{1, 2}, 2, nil},
	}
	for _, c := range cases {
		if got := Reverse(c.xs, c.n); !slices.Equal(got, c.want) {
			t.Fatalf("Reverse(%v, %d) = %v, want %v", c.xs, c.n, got, c.want)
		}
	}
}
