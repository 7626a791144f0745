package contains

import "testing"

type containsCase struct {
	xs   []int
	x, n int
	want bool
}

func checkContains(t *testing.T, cases []containsCase) {
	t.Helper()
	for _, c := range cases {
		if got := Contains(c.xs, c.x, c.n); got != c.want {
			t.Fatalf("Contains(%v, %d, %d) = %t, want %t", c.xs, c.x, c.n, got, c.want)
		}
	}
}

func TestContainsEmpty(t *testing.T) {
	checkContains(t, []containsCase{
		{nil, 1, 0, true},
		{nil, 1, 1, false},
	})
}

func TestContainsMissing(t *testing.T) {
	checkContains(t, []containsCase{
		{[]int{2, 3}, 4, 1, false},
		{[]int{2, 2, 2}, 4, 2, false},
	})
}

func TestContainsFirst(t *testing.T) {
	checkContains(t, []containsCase{
		{[]int{6, 1, 2}, 6, 1, true},
	})
}

func TestContainsExact(t *testing.T) {
	checkContains(t, []containsCase{
		{[]int{6, 6, 2}, 6, 2, true},
		{[]int{6, 6, 2}, 6, 3, false},
	})
}

func TestContainsMore(t *testing.T) {
	checkContains(t, []containsCase{
		{[]int{6, 6, 6}, 6, 1, true},
	})
}
