package absdiff

import "testing"

type absDiffCase struct{ x, y, want int }

func checkAbsDiff(t *testing.T, cases []absDiffCase) {
	t.Helper()
	for _, c := range cases {
		if got := AbsDiff(c.x, c.y); got != c.want {
			t.Fatalf("AbsDiff(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}

func TestAbsDiffSame(t *testing.T) {
	checkAbsDiff(t, []absDiffCase{
		{0, 0, 0},
		{4, 4, 0},
	})
}

func TestAbsDiffNear(t *testing.T) {
	checkAbsDiff(t, []absDiffCase{
		{5, 4, 1},
		{4, 5, 1},
		{-2, 3, 5},
	})
}

func TestAbsDiffFar(t *testing.T) {
	checkAbsDiff(t, []absDiffCase{
		{0, 99, 99},
		{100, 0, 100},
		{500, -500, 100},
		{-500, 500, 100},
	})
}
