package binomial

import "testing"

type binomialCase struct{ n, k, want int }

func checkBinomial(t *testing.T, cases []binomialCase) {
	t.Helper()
	for _, c := range cases {
		if got := Binomial(c.n, c.k); got != c.want {
			t.Fatalf("Binomial(%d, %d) = %d, want %d", c.n, c.k, got, c.want)
		}
	}
}

func TestBinomialNone(t *testing.T) {
	checkBinomial(t, []binomialCase{
		{3, 9, 0},
		{4, -2, 0},
	})
}

func TestBinomialZero(t *testing.T) {
	checkBinomial(t, []binomialCase{
		{0, 0, 1},
		{6, 0, 1},
	})
}

func TestBinomialAll(t *testing.T) {
	checkBinomial(t, []binomialCase{
		{4, 4, 1},
		{1, 1, 1},
	})
}

func TestBinomialOne(t *testing.T) {
	checkBinomial(t, []binomialCase{
		{9, 1, 9},
		{9, 8, 9},
	})
}

func TestBinomialSome(t *testing.T) {
	checkBinomial(t, []binomialCase{
		{5, 2, 10},
		{10, 5, 252},
	})
}
