package trim

import (
	"slices"
	"testing"
)

func TestTrim(t *testing.T) {
	cases := []struct{ xs, want []int }{
		{[]int{0, 1, 2, 0}, []int{1, 2}},
		{[]int{0, 0}, nil},
		{[]int{3}, []int{3}},
		{[]int{0, 5, 0, 6}, []int{5, 0, 6}},
		{[]int{7, 0, 0}, []int{7}},
	}
	for _, c := range cases {
		if got := Trim(c.xs); !slices.Equal(got, c.want) {
			t.Fatalf("Trim(%v) = %v, want %v", c.xs, got, c.want)
		}
	}
}
