package daysin

import "testing"

func TestDaysIn(t *testing.T) {
	cases := []struct {
		m    int
		leap bool
		want int
	}{
		{2, true, 29},
		{2, false, 28},
		{4, false, 30},
		{6, true, 30},
		{9, false, 30},
		{11, false, 30},
		{1, true, 31},
		{3, false, 31},
		{12, false, 31},
	}
	for _, c := range cases {
		if got := DaysIn(c.m, c.leap); got != c.want {
			t.Fatalf("DaysIn(%d, %t) = %d, want %d", c.m, c.leap, got, c.want)
		}
	}
}
