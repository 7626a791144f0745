package issorted

import "testing"

type isSortedCase struct {
	xs   []int
	want bool
}

func checkIsSorted(t *testing.T, cases []isSortedCase) {
	t.Helper()
	for _, c := range cases {
		if got := IsSorted(c.xs); got != c.want {
			t.Fatalf("IsSorted(%v) = %t, want %t", c.xs, got, c.want)
		}
	}
}

func TestIsSortedEmpty(t *testing.T) {
	checkIsSorted(t, []isSortedCase{
		{nil, true},
		{[]int{}, true},
	})
}

func TestIsSortedOne(t *testing.T) {
	checkIsSorted(t, []isSortedCase{
		{[]int{5}, true},
	})
}

func TestIsSortedTwo(t *testing.T) {
	checkIsSorted(t, []isSortedCase{
		{[]int{1, 2}, true},
		{[]int{5, 4}, false},
	})
}

func TestIsSortedEqual(t *testing.T) {
	checkIsSorted(t, []isSortedCase{
		{[]int{4, 4, 4}, true},
	})
}

func TestIsSortedLate(t *testing.T) {
	checkIsSorted(t, []isSortedCase{
		{[]int{1, 2, 3, 2}, false},
	})
}

func TestIsSortedEarly(t *testing.T) {
	checkIsSorted(t, []isSortedCase{
		{[]int{2, 1, 3, 4}, false},
	})
}
