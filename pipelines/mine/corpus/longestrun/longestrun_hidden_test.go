package longestrun

import "testing"

type longestRunCase struct {
	xs   []int
	want int
}

func checkLongestRun(t *testing.T, cases []longestRunCase) {
	t.Helper()
	for _, c := range cases {
		if got := LongestRun(c.xs); got != c.want {
			t.Fatalf("LongestRun(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestLongestRunEmpty(t *testing.T) {
	checkLongestRun(t, []longestRunCase{
		{nil, 0},
	})
}

func TestLongestRunOne(t *testing.T) {
	checkLongestRun(t, []longestRunCase{
		{[]int{9}, 1},
	})
}

func TestLongestRunSame(t *testing.T) {
	checkLongestRun(t, []longestRunCase{
		{[]int{2, 2, 2, 2}, 4},
	})
}

func TestLongestRunEach(t *testing.T) {
	checkLongestRun(t, []longestRunCase{
		{[]int{1, 2, 3}, 1},
	})
}

func TestLongestRunFirst(t *testing.T) {
	checkLongestRun(t, []longestRunCase{
		{[]int{7, 7, 7, 1, 1}, 3},
	})
}

func TestLongestRunLast(t *testing.T) {
	checkLongestRun(t, []longestRunCase{
		{[]int{1, 7, 7}, 2},
	})
}
