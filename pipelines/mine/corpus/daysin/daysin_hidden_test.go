package daysin

import "testing"

type daysInCase struct {
	m    int
	leap bool
	want int
}

func checkDaysIn(t *testing.T, cases []daysInCase) {
	t.Helper()
	for _, c := range cases {
		if got := DaysIn(c.m, c.leap); got != c.want {
			t.Fatalf("DaysIn(%d, %t) = %d, want %d", c.m, c.leap, got, c.want)
		}
	}
}

func TestDaysInJanuary(t *testing.T) {
	checkDaysIn(t, []daysInCase{
		{1, false, 31},
		{1, true, 31},
	})
}

func TestDaysInFebruary(t *testing.T) {
	checkDaysIn(t, []daysInCase{
		{2, true, 29},
		{2, false, 28},
	})
}

func TestDaysInLong(t *testing.T) {
	checkDaysIn(t, []daysInCase{
		{3, false, 31},
		{5, false, 31},
		{7, true, 31},
		{8, false, 31},
		{10, true, 31},
		{12, true, 31},
	})
}

func TestDaysInShort(t *testing.T) {
	checkDaysIn(t, []daysInCase{
		{4, true, 30},
		{6, false, 30},
		{9, true, 30},
		{11, true, 30},
	})
}
