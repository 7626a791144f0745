package change

import "testing"

type changeCase struct{ x, want int }

func checkChange(t *testing.T, cases []changeCase) {
	t.Helper()
	for _, c := range cases {
		if got := Change(c.x); got != c.want {
			t.Fatalf("Change(%d) = %d, want %d", c.x, got, c.want)
		}
	}
}

func TestChangeZero(t *testing.T) {
	checkChange(t, []changeCase{
		{0, 0},
	})
}

func TestChangeOnes(t *testing.T) {
	checkChange(t, []changeCase{
		{1, 1},
		{3, 3},
	})
}

func TestChangeFive(t *testing.T) {
	checkChange(t, []changeCase{
		{5, 1},
		{6, 2},
		{8, 4},
	})
}

func TestChangeTen(t *testing.T) {
	checkChange(t, []changeCase{
		{10, 1},
		{11, 2},
	})
}

func TestChangeMany(t *testing.T) {
	checkChange(t, []changeCase{
		{99, 14},
		{45, 5},
	})
}
