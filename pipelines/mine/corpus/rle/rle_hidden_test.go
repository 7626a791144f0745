package rle

import "testing"

type rLECase struct {
	s    string
	want int
}

func checkRLE(t *testing.T, cases []rLECase) {
	t.Helper()
	for _, c := range cases {
		if got := RLE(c.s); got != c.want {
			t.Fatalf("RLE(%q) = %d, want %d", c.s, got, c.want)
		}
	}
}

func TestRLEEmpty(t *testing.T) {
	checkRLE(t, []rLECase{
		{"", 0},
	})
}

func TestRLEOne(t *testing.T) {
	checkRLE(t, []rLECase{
		{"q", 1},
	})
}

func TestRLEEach(t *testing.T) {
	checkRLE(t, []rLECase{
		{"wxyz", 4},
	})
}

func TestRLESame(t *testing.T) {
	checkRLE(t, []rLECase{
		{"zz", 2},
		{"zzzzz", 2},
	})
}

func TestRLEMixed(t *testing.T) {
	checkRLE(t, []rLECase{
		{"aabbc", 5},
		{"abbbc", 4},
	})
}
