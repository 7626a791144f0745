package satadd

import "testing"

type satAddCase struct{ x, y, want int }

func checkSatAdd(t *testing.T, cases []satAddCase) {
	t.Helper()
	for _, c := range cases {
		if got := SatAdd(c.x, c.y); got != c.want {
			t.Fatalf("SatAdd(%d, %d) = %d, want %d", c.x, c.y, got, c.want)
		}
	}
}

func TestSatAddZero(t *testing.T) {
	checkSatAdd(t, []satAddCase{
		{0, 0, 0},
	})
}

func TestSatAddPlain(t *testing.T) {
	checkSatAdd(t, []satAddCase{
		{10, 20, 30},
		{30, -10, 20},
	})
}

func TestSatAddTop(t *testing.T) {
	checkSatAdd(t, []satAddCase{
		{255, 0, 255},
		{254, 0, 254},
		{256, 0, 255},
	})
}

func TestSatAddAbove(t *testing.T) {
	checkSatAdd(t, []satAddCase{
		{255, 255, 255},
		{300, 7, 255},
	})
}

func TestSatAddBelow(t *testing.T) {
	checkSatAdd(t, []satAddCase{
		{-5, 3, 0},
		{-1, -1, 0},
	})
}
