package isprime

import "testing"

type isPrimeCase struct {
	n    int
	want bool
}

func checkIsPrime(t *testing.T, cases []isPrimeCase) {
	t.Helper()
	for _, c := range cases {
		if got := IsPrime(c.n); got != c.want {
			t.Fatalf("IsPrime(%d) = %t, want %t", c.n, got, c.want)
		}
	}
}

func TestIsPrimeSmall(t *testing.T) {
	checkIsPrime(t, []isPrimeCase{
		{0, false},
		{1, false},
		{-3, false},
	})
}

func TestIsPrimeFirst(t *testing.T) {
	checkIsPrime(t, []isPrimeCase{
		{2, true},
		{3, true},
	})
}

func TestIsPrimeSquare(t *testing.T) {
	checkIsPrime(t, []isPrimeCase{
		{4, false},
		{25, false},
		{49, false},
	})
}

func TestIsPrimePrime(t *testing.T) {
	checkIsPrime(t, []isPrimeCase{
		{13, true},
		{97, true},
	})
}

func TestIsPrimeComposite(t *testing.T) {
	checkIsPrime(t, []isPrimeCase{
		{6, false},
		{21, false},
		{91, false},
	})
}
