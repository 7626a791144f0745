package issorted

import "testing"

func TestIsSorted(t *testing.T) {
	cases := []struct {
		xs   []int
		want bool
	}{
		{[]int{1, 2, 3}, true},
		{[]int{1, 3, 2}, false},
		{[]int{2, 1}, false},
		{[]int{2, 2}, true},
		{[]int{3, 1, 2}, false},
		{nil, true},
	}
	for _, c := range cases {
		if got := IsSorted(c.xs); got != c.want {
			t.Fatalf("IsSorted(%v) = %t, want %t", c.xs, got, c.want)
		}
	}
}
