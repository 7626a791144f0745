package overlap

import "testing"

type overlapCase struct{ a, b, c, d, want int }

func checkOverlap(t *testing.T, cases []overlapCase) {
	t.Helper()
	for _, c := range cases {
		if got := Overlap(c.a, c.b, c.c, c.d); got != c.want {
			t.Fatalf("Overlap(%d, %d, %d, %d) = %d, want %d", c.a, c.b, c.c, c.d, got, c.want)
		}
	}
}

func TestOverlapApart(t *testing.T) {
	checkOverlap(t, []overlapCase{
		{0, 1, 5, 6, 0},
		{5, 6, 0, 1, 0},
	})
}

func TestOverlapTouch(t *testing.T) {
	checkOverlap(t, []overlapCase{
		{0, 3, 3, 5, 1},
		{3, 5, 0, 3, 1},
	})
}

func TestOverlapInside(t *testing.T) {
	checkOverlap(t, []overlapCase{
		{0, 9, 2, 3, 2},
		{2, 3, 0, 9, 2},
	})
}

func TestOverlapSame(t *testing.T) {
	checkOverlap(t, []overlapCase{
		{4, 7, 4, 7, 4},
		{2, 2, 2, 2, 1},
	})
}

func TestOverlapNext(t *testing.T) {
	checkOverlap(t, []overlapCase{
		{0, 2, 3, 4, 0},
	})
}
