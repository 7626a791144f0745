package fizz

import "testing"

func TestFizz(t *testing.T) {
	cases := []struct {
		n    int
		want string
	}{
		{3, "Fizz"},
		{5, "Buzz"},
		{15, "FizzBuzz"},
		{7, ""},
		{4, ""},
		{6, "Fizz"},
		{2, ""},
		{8, ""},
	}
	for _, c := range cases {
		if got := Fizz(c.n); got != c.want {
			t.Fatalf("Fizz(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}
