package shift

import "testing"

type shiftCase struct {
	c    byte
	n    int
	want byte
}

func checkShift(t *testing.T, cases []shiftCase) {
	t.Helper()
	for _, c := range cases {
		if got := Shift(c.c, c.n); got != c.want {
			t.Fatalf("Shift(%q, %d) = %q, want %q", c.c, c.n, got, c.want)
		}
	}
}

func TestShiftNone(t *testing.T) {
	checkShift(t, []shiftCase{
		{'a', 0, 'a'},
		{'m', 0, 'm'},
	})
}

func TestShiftOther(t *testing.T) {
	checkShift(t, []shiftCase{
		{'?', 3, '?'},
		{'{', 3, '{'},
		{'Z', 9, 'Z'},
	})
}

func TestShiftPlain(t *testing.T) {
	checkShift(t, []shiftCase{
		{'b', 2, 'd'},
		{'a', 24, 'y'},
	})
}

func TestShiftAround(t *testing.T) {
	checkShift(t, []shiftCase{
		{'z', 2, 'b'},
		{'b', 25, 'a'},
	})
}

func TestShiftFull(t *testing.T) {
	checkShift(t, []shiftCase{
		{'k', 26, 'k'},
	})
}
