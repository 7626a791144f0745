package bitcount

import "testing"

type bitCountCase struct{ x, want int }

func checkBitCount(t *testing.T, cases []bitCountCase) {
	t.Helper()
	for _, c := range cases {
		if got := BitCount(c.x); got != c.want {
			t.Fatalf("BitCount(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}

func TestBitCountZero(t *testing.T) {
	checkBitCount(t, []bitCountCase{
		{0, 0},
	})
}

func TestBitCountOne(t *testing.T) {
	checkBitCount(t, []bitCountCase{
		{1, 1},
	})
}

func TestBitCountPower(t *testing.T) {
	checkBitCount(t, []bitCountCase{
		{2, 1},
		{64, 1},
	})
}

func TestBitCountMixed(t *testing.T) {
	checkBitCount(t, []bitCountCase{
		{6, 2},
		{9, 2},
		{21, 3},
	})
}

func TestBitCountAll(t *testing.T) {
	checkBitCount(t, []bitCountCase{
		{15, 4},
		{255, 8},
	})
}
