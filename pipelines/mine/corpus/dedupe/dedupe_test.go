package dedupe

import (
	"slices"
	"testing"
)

func TestDedupe(t *testing.T) {
	cases := []struct{ xs, want []int }{
		{[]int{1, 1, 2}, []int{1, 2}},
		{nil, nil},
		{[]int{3}, []int{3}},
		{[]int{1, 2, 2, 4}, []int{1, 2, 4}},
		{[]int{1, 3}, []int{1, 3}},
	}
	for _, c := range cases {
		if got := Dedupe(c.xs); !slices.Equal(got, c.want) {
			t.Fatalf("Dedupe(%v) = %v, want %v", c.xs, got, c.want)
		}
	}
}
