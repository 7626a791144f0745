package tally

import "testing"

type tallyCase struct {
	n    int
	want string
}

func checkTally(t *testing.T, cases []tallyCase) {
	t.Helper()
	for _, c := range cases {
		if got := Tally(c.n); got != c.want {
			t.Fatalf("Tally(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestTallyZero(t *testing.T) {
	checkTally(t, []tallyCase{
		{0, ""},
	})
}

func TestTallyOnes(t *testing.T) {
	checkTally(t, []tallyCase{
		{1, "I"},
		{3, "III"},
	})
}

func TestTallyFives(t *testing.T) {
	checkTally(t, []tallyCase{
		{5, "V"},
		{6, "VI"},
	})
}

func TestTallyTens(t *testing.T) {
	checkTally(t, []tallyCase{
		{10, "X"},
		{30, "XXX"},
	})
}

func TestTallyMixed(t *testing.T) {
	checkTally(t, []tallyCase{
		{14, "XIIII"},
		{19, "XVIIII"},
		{38, "XXXVIII"},
	})
}
