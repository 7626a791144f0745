package weekday

import "testing"

type weekdayCase struct{ d, n, want int }

func checkWeekday(t *testing.T, cases []weekdayCase) {
	t.Helper()
	for _, c := range cases {
		if got := Weekday(c.d, c.n); got != c.want {
			t.Fatalf("Weekday(%d, %d) = %d, want %d", c.d, c.n, got, c.want)
		}
	}
}

func TestWeekdayZero(t *testing.T) {
	checkWeekday(t, []weekdayCase{
		{0, 0, 0},
	})
}

func TestWeekdayNone(t *testing.T) {
	checkWeekday(t, []weekdayCase{
		{5, 0, 5},
		{6, 0, 6},
	})
}

func TestWeekdayLater(t *testing.T) {
	checkWeekday(t, []weekdayCase{
		{1, 3, 4},
		{5, 4, 2},
	})
}

func TestWeekdayEarlier(t *testing.T) {
	checkWeekday(t, []weekdayCase{
		{5, -2, 3},
		{1, -8, 0},
	})
}

func TestWeekdayWeeks(t *testing.T) {
	checkWeekday(t, []weekdayCase{
		{2, 70, 2},
		{2, -70, 2},
		{0, -1, 6},
	})
}
