package merge

import (
	"slices"
	"testing"
)

func TestMerge(t *testing.T) {
	cases := []struct{ a, b, want []int }{
		{[]int{1, 4}, []int{2, 3}, []int{1, 2, 3, 4}},
		{nil, []int{7}, []int{7}},
		{[]int{7}, nil, []int{7}},
		{[]int{5}, []int{5}, []int{5, 5}},
	}
	for _, c := range cases {
		if got := Merge(c.a, c.b); !slices.Equal(got, c.want) {
			t.Fatalf("Merge(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
