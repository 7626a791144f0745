package runs

import "testing"

func TestRuns(t *testing.T) {
	cases := []struct {
		xs   []int
		want int
	}{
		{[]int{1, 1, 2}, 2},
		{[]int{5}, 1},
		{nil, 0},
		{[]int{1, 2, 1}, 3},
		{[]int{4, 4}, 1},
		{[]int{3, 2}, 2},
	}
	for _, c := range cases {
		if got := Runs(c.xs); got != c.want {
			t.Fatalf("Runs(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}
