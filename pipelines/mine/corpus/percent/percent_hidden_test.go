package percent

import "testing"

type percentCase struct{ x, total, want int }

func checkPercent(t *testing.T, cases []percentCase) {
	t.Helper()
	for _, c := range cases {
		if got := Percent(c.x, c.total); got != c.want {
			t.Fatalf("Percent(%d, %d) = %d, want %d", c.x, c.total, got, c.want)
		}
	}
}

func TestPercentNone(t *testing.T) {
	checkPercent(t, []percentCase{
		{3, 0, 0},
		{3, -5, 0},
	})
}

func TestPercentZero(t *testing.T) {
	checkPercent(t, []percentCase{
		{0, 1, 0},
		{0, 50, 0},
	})
}

func TestPercentWhole(t *testing.T) {
	checkPercent(t, []percentCase{
		{4, 4, 100},
		{50, 50, 100},
	})
}

func TestPercentHalf(t *testing.T) {
	checkPercent(t, []percentCase{
		{5, 10, 50},
		{1, 8, 13},
	})
}

func TestPercentRound(t *testing.T) {
	checkPercent(t, []percentCase{
		{1, 6, 17},
		{1, 200, 1},
		{1, 201, 0},
	})
}
