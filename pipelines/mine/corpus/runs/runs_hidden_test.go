package runs

import "testing"

type runsCase struct {
	xs   []int
	want int
}

func checkRuns(t *testing.T, cases []runsCase) {
	t.Helper()
	for _, c := range cases {
		if got := Runs(c.xs); got != c.want {
			t.Fatalf("Runs(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestRunsEmpty(t *testing.T) {
	checkRuns(t, []runsCase{
		{nil, 0},
		{[]int{}, 0},
	})
}

func TestRunsOne(t *testing.T) {
	checkRuns(t, []runsCase{
		{[]int{0}, 1},
	})
}

func TestRunsSame(t *testing.T) {
	checkRuns(t, []runsCase{
		{[]int{7, 7, 7}, 1},
	})
}

func TestRunsEach(t *testing.T) {
	checkRuns(t, []runsCase{
		{[]int{1, 2, 3, 4}, 4},
	})
}

func TestRunsMixed(t *testing.T) {
	checkRuns(t, []runsCase{
		{[]int{1, 1, 2, 2, 1}, 3},
		{[]int{0, 0, 0, 5}, 2},
	})
}
