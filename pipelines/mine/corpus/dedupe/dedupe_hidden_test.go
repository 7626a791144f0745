package dedupe

import (
	"slices"
	"testing"
)

type dedupeCase struct{ xs, want []int }

func checkDedupe(t *testing.T, cases []dedupeCase) {
	t.Helper()
	for _, c := range cases {
		if got := Dedupe(c.xs); !slices.Equal(got, c.want) {
			t.Fatalf("Dedupe(%v) = %v, want %v", c.xs, got, c.want)
		}
	}
}

func TestDedupeEmpty(t *testing.T) {
	checkDedupe(t, []dedupeCase{
		{nil, nil},
	})
}

func TestDedupeOne(t *testing.T) {
	checkDedupe(t, []dedupeCase{
		{[]int{8}, []int{8}},
	})
}

func TestDedupeSame(t *testing.T) {
	checkDedupe(t, []dedupeCase{
		{[]int{6, 6, 6}, []int{6}},
	})
}

func TestDedupeEach(t *testing.T) {
	checkDedupe(t, []dedupeCase{
		{[]int{1, 2, 3}, []int{1, 2, 3}},
	})
}

func TestDedupeMixed(t *testing.T) {
	checkDedupe(t, []dedupeCase{
		{[]int{0, 0, 1, 5, 5}, []int{0, 1, 5}},
	})
}
