package roundup

import "testing"

type roundUpCase struct{ x, m, want int }

func checkRoundUp(t *testing.T, cases []roundUpCase) {
	t.Helper()
	for _, c := range cases {
		if got := RoundUp(c.x, c.m); got != c.want {
			t.Fatalf("RoundUp(%d, %d) = %d, want %d", c.x, c.m, got, c.want)
		}
	}
}

func TestRoundUpZero(t *testing.T) {
	checkRoundUp(t, []roundUpCase{
		{0, 1, 0},
		{0, 8, 0},
	})
}

func TestRoundUpExact(t *testing.T) {
	checkRoundUp(t, []roundUpCase{
		{16, 8, 16},
		{3, 3, 3},
	})
}

func TestRoundUpBelow(t *testing.T) {
	checkRoundUp(t, []roundUpCase{
		{15, 8, 16},
		{2, 3, 3},
	})
}

func TestRoundUpAbove(t *testing.T) {
	checkRoundUp(t, []roundUpCase{
		{17, 8, 24},
		{4, 3, 6},
	})
}

func TestRoundUpOne(t *testing.T) {
	checkRoundUp(t, []roundUpCase{
		{9, 1, 9},
	})
}
