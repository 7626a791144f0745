package factorial

import "testing"

type factorialCase struct{ n, want int }

func checkFactorial(t *testing.T, cases []factorialCase) {
	t.Helper()
	for _, c := range cases {
		if got := Factorial(c.n); got != c.want {
			t.Fatalf("Factorial(%d) = %d, want %d", c.n, got, c.want)
		}
	}
}

func TestFactorialZero(t *testing.T) {
	checkFactorial(t, []factorialCase{
		{0, 1},
		{-3, 1},
	})
}

func TestFactorialOne(t *testing.T) {
	checkFactorial(t, []factorialCase{
		{1, 1},
	})
}

func TestFactorialTwo(t *testing.T) {
	checkFactorial(t, []factorialCase{
		{2, 2},
	})
}

func TestFactorialSmall(t *testing.T) {
	checkFactorial(t, []factorialCase{
		{3, 6},
		{5, 120},
	})
}

func TestFactorialLarge(t *testing.T) {
	checkFactorial(t, []factorialCase{
		{10, 3628800},
	})
}
