package satadd

import "testing"

func TestSatAdd(t *testing.T) {
	cases := []struct{ x, y, want int }{
		{1, 2, 3},
		{200, 100, 255},
		{5, -9, 0},
		{250, 5, 255},
		{255, 1, 255},
		{4, -4, 0},
		{-1, 0, 0},
		{1, 0, 1},
		{100, 154, 254},
	}
	for _, c := range cases {
		if got := SatAdd(c.x, c.y); got != c.want {
			t.Fatalf("SatAdd(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}
