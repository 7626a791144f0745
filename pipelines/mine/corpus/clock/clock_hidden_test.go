package clock

import "testing"

type clockCase struct{ h, m, n, want int }

func checkClock(t *testing.T, cases []clockCase) {
	t.Helper()
	for _, c := range cases {
		if got := Clock(c.h, c.m, c.n); got != c.want {
			t.Fatalf("Clock(%d, %d, %d) = %d, want %d", c.h, c.m, c.n, got, c.want)
		}
	}
}

func TestClockZero(t *testing.T) {
	checkClock(t, []clockCase{
		{0, 0, 0, 0},
	})
}

func TestClockMinute(t *testing.T) {
	checkClock(t, []clockCase{
		{0, 7, 1, 8},
		{0, 59, 1, 60},
	})
}

func TestClockHour(t *testing.T) {
	checkClock(t, []clockCase{
		{2, 0, 30, 150},
		{10, 10, -10, 600},
	})
}

func TestClockNext(t *testing.T) {
	checkClock(t, []clockCase{
		{23, 30, 45, 15},
		{22, 0, 120, 0},
	})
}

func TestClockBefore(t *testing.T) {
	checkClock(t, []clockCase{
		{0, 10, -20, 1430},
	})
}

func TestClockDays(t *testing.T) {
	checkClock(t, []clockCase{
		{0, 0, 2880, 0},
		{0, 0, -2881, 1439},
	})
}
