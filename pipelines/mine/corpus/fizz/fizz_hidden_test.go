package fizz

import "testing"

type fizzCase struct {
	n    int
	want string
}

func checkFizz(t *testing.T, cases []fizzCase) {
	t.Helper()
	for _, c := range cases {
		if got := Fizz(c.n); got != c.want {
			t.Fatalf("Fizz(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestFizzZero(t *testing.T) {
	checkFizz(t, []fizzCase{
		{0, "FizzBuzz"},
	})
}

func TestFizzPlain(t *testing.T) {
	checkFizz(t, []fizzCase{
		{1, ""},
		{11, ""},
		{22, ""},
	})
}

func TestFizzThree(t *testing.T) {
	checkFizz(t, []fizzCase{
		{9, "Fizz"},
		{12, "Fizz"},
	})
}

func TestFizzFive(t *testing.T) {
	checkFizz(t, []fizzCase{
		{10, "Buzz"},
		{25, "Buzz"},
	})
}

func TestFizzBoth(t *testing.T) {
	checkFizz(t, []fizzCase{
		{30, "FizzBuzz"},
		{60, "FizzBuzz"},
	})
}
