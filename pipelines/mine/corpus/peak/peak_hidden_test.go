package peak

import "testing"

type peakCase struct {
	xs   []int
	want int
}

func checkPeak(t *testing.T, cases []peakCase) {
	t.Helper()
	for _, c := range cases {
		if got := Peak(c.xs); got != c.want {
			t.Fatalf("Peak(%v) = %d, want %d", c.xs, got, c.want)
		}
	}
}

func TestPeakEmpty(t *testing.T) {
	checkPeak(t, []peakCase{
		{nil, 0},
		{[]int{5}, 0},
	})
}

func TestPeakFlat(t *testing.T) {
	checkPeak(t, []peakCase{
		{[]int{3, 3, 3}, 0},
	})
}

func TestPeakSlope(t *testing.T) {
	checkPeak(t, []peakCase{
		{[]int{1, 2, 3, 4}, 0},
		{[]int{4, 3, 2, 1}, 0},
	})
}

func TestPeakValley(t *testing.T) {
	checkPeak(t, []peakCase{
		{[]int{5, 1, 5}, 0},
	})
}

func TestPeakOne(t *testing.T) {
	checkPeak(t, []peakCase{
		{[]int{0, 9, 0}, 1},
	})
}

func TestPeakEnds(t *testing.T) {
	checkPeak(t, []peakCase{
		{[]int{9, 1, 2, 1, 9}, 1},
	})
}
