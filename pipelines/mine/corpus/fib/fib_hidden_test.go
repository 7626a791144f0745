package fib

import "testing"

type fibCase struct{ n, want int }

func checkFib(t *testing.T, cases []fibCase) {
	t.Helper()
	for _, c := range cases {
		if got := Fib(c.n); got != c.want {
			t.Fatalf("Fib(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}

func TestFibZero(t *testing.T) {
	checkFib(t, []fibCase{
		{0, 0},
		{-4, 0},
	})
}

func TestFibOne(t *testing.T) {
	checkFib(t, []fibCase{
		{1, 1},
	})
}

func TestFibTwo(t *testing.T) {
	checkFib(t, []fibCase{
		{2, 1},
	})
}

func TestFibSmall(t *testing.T) {
	checkFib(t, []fibCase{
		{4, 3},
		{5, 5},
	})
}

func TestFibLarge(t *testing.T) {
	checkFib(t, []fibCase{
		{20, 6765},
	})
}
