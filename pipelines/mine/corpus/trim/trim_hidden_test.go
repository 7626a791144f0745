package trim

import (
	"slices"
	"testing"
)

type trimCase struct{ xs, want []int }

func checkTrim(t *testing.T, cases []trimCase) {
	t.Helper()
	for _, c := range cases {
		if got := Trim(c.xs); !slices.Equal(got, c.want) {
			t.Fatalf("Trim(%v) = %v, want %v", c.xs, got, c.want)
		}
	}
}

func TestTrimEmpty(t *testing.T) {
	checkTrim(t, []trimCase{
		{nil, nil},
	})
}

func TestTrimPlain(t *testing.T) {
	checkTrim(t, []trimCase{
		{[]int{4, 5}, []int{4, 5}},
	})
}

func TestTrimInner(t *testing.T) {
	checkTrim(t, []trimCase{
		{[]int{4, 0, 5}, []int{4, 0, 5}},
	})
}

func TestTrimZeros(t *testing.T) {
	checkTrim(t, []trimCase{
		{[]int{0}, nil},
		{[]int{0, 0, 0}, nil},
	})
}

func TestTrimFront(t *testing.T) {
	checkTrim(t, []trimCase{
		{[]int{0, 0, 9}, []int{9}},
	})
}

func TestTrimBack(t *testing.T) {
	checkTrim(t, []trimCase{
		{[]int{9, 8, 0}, []int{9, 8}},
	})
}
