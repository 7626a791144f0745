package zeros

import "testing"

type zerosCase struct{ n, want int }

func checkZeros(t *testing.T, cases []zerosCase) {
	t.Helper()
	for _, c := range cases {
		if got := Zeros(c.n); got != c.want {
			t.Fatalf("Zeros(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}

func TestZerosNone(t *testing.T) {
	checkZeros(t, []zerosCase{
		{0, 0},
		{1, 0},
		{-7, 0},
	})
}

func TestZerosSmall(t *testing.T) {
	checkZeros(t, []zerosCase{
		{4, 0},
		{3, 0},
	})
}

func TestZerosFive(t *testing.T) {
	checkZeros(t, []zerosCase{
		{5, 1},
		{9, 1},
	})
}

func TestZerosTen(t *testing.T) {
	checkZeros(t, []zerosCase{
		{10, 2},
		{14, 2},
	})
}

func TestZerosLarge(t *testing.T) {
	checkZeros(t, []zerosCase{
		{25, 6},
		{100, 24},
	})
}
