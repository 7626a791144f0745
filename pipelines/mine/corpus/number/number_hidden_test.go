package number

import "testing"

type numberCase struct {
	s    string
	want int
}

func checkNumber(t *testing.T, cases []numberCase) {
	t.Helper()
	for _, c := range cases {
		if got := Number(c.s); got != c.want {
			t.Fatalf("Number(%q) = %d, want %d", c.s, got, c.want)
		}
	}
}

func TestNumberEmpty(t *testing.T) {
	checkNumber(t, []numberCase{
		{"", 0},
	})
}

func TestNumberDigit(t *testing.T) {
	checkNumber(t, []numberCase{
		{"0", 0},
		{"9", 9},
	})
}

func TestNumberLong(t *testing.T) {
	checkNumber(t, []numberCase{
		{"1000", 1000},
		{"98765", 98765},
	})
}

func TestNumberZeros(t *testing.T) {
	checkNumber(t, []numberCase{
		{"007", 7},
	})
}

func TestNumberOther(t *testing.T) {
	checkNumber(t, []numberCase{
		{"x", -1},
		{"1.5", -1},
		{":", -1},
	})
}
