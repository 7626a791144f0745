package inbounds

import "testing"

type inBoundsCase struct {
	x, y, w, h int
	want       bool
}

func checkInBounds(t *testing.T, cases []inBoundsCase) {
	t.Helper()
	for _, c := range cases {
		if got := InBounds(c.x, c.y, c.w, c.h); got != c.want {
			t.Fatalf("InBounds(%d, %d, %d, %d) = %t, want %t", c.x, c.y, c.w, c.h, got, c.want)
		}
	}
}

func TestInBoundsCorner(t *testing.T) {
	checkInBounds(t, []inBoundsCase{
		{0, 0, 1, 1, true},
		{4, 6, 5, 7, true},
	})
}

func TestInBoundsLeft(t *testing.T) {
	checkInBounds(t, []inBoundsCase{
		{-1, 3, 9, 9, false},
		{0, 3, 9, 9, true},
	})
}

func TestInBoundsTop(t *testing.T) {
	checkInBounds(t, []inBoundsCase{
		{3, -1, 9, 9, false},
		{3, 0, 9, 9, true},
	})
}

func TestInBoundsRight(t *testing.T) {
	checkInBounds(t, []inBoundsCase{
		{9, 3, 9, 20, false},
		{8, 3, 9, 20, true},
	})
}

func TestInBoundsBottom(t *testing.T) {
	checkInBounds(t, []inBoundsCase{
		{3, 9, 20, 9, false},
		{3, 8, 20, 9, true},
	})
}

func TestInBoundsEmpty(t *testing.T) {
	checkInBounds(t, []inBoundsCase{
		{0, 0, 0, 0, false},
	})
}
