package leap

import "testing"

type leapCase struct {
	y    int
	want bool
}

func checkLeap(t *testing.T, cases []leapCase) {
	t.Helper()
	for _, c := range cases {
		if got := Leap(c.y); got != c.want {
			t.Fatalf("Leap(%d) = %t, want %t", c.y, got, c.want)
		}
	}
}

func TestLeapZero(t *testing.T) {
	checkLeap(t, []leapCase{
		{0, true},
	})
}

func TestLeapCommon(t *testing.T) {
	checkLeap(t, []leapCase{
		{2019, false},
		{2021, false},
		{1, false},
	})
}

func TestLeapFourth(t *testing.T) {
	checkLeap(t, []leapCase{
		{4, true},
		{2004, true},
		{1992, true},
	})
}

func TestLeapCentury(t *testing.T) {
	checkLeap(t, []leapCase{
		{1800, false},
		{2200, false},
	})
}

func TestLeapEra(t *testing.T) {
	checkLeap(t, []leapCase{
		{1600, true},
		{2400, true},
	})
}
