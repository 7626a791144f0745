package ispow2

import "testing"

type isPow2Case struct {
	x    int
	want bool
}

func checkIsPow2(t *testing.T, cases []isPow2Case) {
	t.Helper()
	for _, c := range cases {
		if got := IsPow2(c.x); got != c.want {
			t.Fatalf("IsPow2(%d) = %t, want %t", c.x, got, c.want)
		}
	}
}

func TestIsPow2Zero(t *testing.T) {
	checkIsPow2(t, []isPow2Case{
		{0, false},
	})
}

func TestIsPow2Negative(t *testing.T) {
	checkIsPow2(t, []isPow2Case{
		{-1, false},
		{-8, false},
	})
}

func TestIsPow2Power(t *testing.T) {
	checkIsPow2(t, []isPow2Case{
		{4, true},
		{64, true},
		{1024, true},
	})
}

func TestIsPow2Even(t *testing.T) {
	checkIsPow2(t, []isPow2Case{
		{10, false},
		{12, false},
	})
}

func TestIsPow2Odd(t *testing.T) {
	checkIsPow2(t, []isPow2Case{
		{3, false},
		{9, false},
	})
}
