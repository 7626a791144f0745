package median

import "testing"

type medianCase struct{ a, b, c, want int }

func checkMedian(t *testing.T, cases []medianCase) {
	t.Helper()
	for _, c := range cases {
		if got := Median(c.a, c.b, c.c); got != c.want {
			t.Fatalf("Median(%d, %d, %d) = %d, want %d", c.a, c.b, c.c, got, c.want)
		}
	}
}

func TestMedianSame(t *testing.T) {
	checkMedian(t, []medianCase{
		{4, 4, 4, 4},
	})
}

func TestMedianPair(t *testing.T) {
	checkMedian(t, []medianCase{
		{1, 1, 5, 1},
		{5, 1, 5, 5},
		{1, 5, 5, 5},
	})
}

func TestMedianMiddle(t *testing.T) {
	checkMedian(t, []medianCase{
		{1, 8, 3, 3},
		{8, 1, 3, 3},
	})
}

func TestMedianBelow(t *testing.T) {
	checkMedian(t, []medianCase{
		{4, 6, 2, 4},
		{6, 4, 2, 4},
	})
}

func TestMedianAbove(t *testing.T) {
	checkMedian(t, []medianCase{
		{4, 6, 8, 6},
		{6, 4, 8, 6},
	})
}
