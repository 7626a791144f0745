package ispow2

import "testing"

func TestIsPow2(t *testing.T) {
	cases := []struct {
		x    int
		want bool
	}{
		{8, true},
		{6, false},
		{1, true},
		{0, false},
		{-4, false},
		{2, true},
		{7, false},
		{3, false},
	}
	for _, c := range cases {
		if got := IsPow2(c.x); got != c.want {
			t.Fatalf("IsPow2(%d) = %t, want %t", c.x, got, c.want)
		}
	}
}
