package collatz

import "testing"

type collatzCase struct{ n, want int }

func checkCollatz(t *testing.T, cases []collatzCase) {
	t.Helper()
	for _, c := range cases {
		if got := Collatz(c.n); got != c.want {
			t.Fatalf("Collatz(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}

func TestCollatzZero(t *testing.T) {
	checkCollatz(t, []collatzCase{
		{0, 0},
		{-5, 0},
	})
}

func TestCollatzOne(t *testing.T) {
	checkCollatz(t, []collatzCase{
		{1, 0},
	})
}

func TestCollatzPower(t *testing.T) {
	checkCollatz(t, []collatzCase{
		{4, 2},
		{16, 4},
	})
}

func TestCollatzOdd(t *testing.T) {
	checkCollatz(t, []collatzCase{
		{5, 5},
		{7, 16},
	})
}

func TestCollatzEven(t *testing.T) {
	checkCollatz(t, []collatzCase{
		{10, 6},
		{12, 9},
	})
}
