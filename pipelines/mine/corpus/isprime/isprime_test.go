package isprime

import "testing"

func TestIsPrime(t *testing.T) {
	cases := []struct {
		n    int
		want bool
	}{
		{7, true},
		{9, false},
		{2, true},
		{1, false},
		{4, false},
		{11, true},
		{15, false},
		{3, true},
	}
	for _, c := range cases {
		if got := IsPrime(c.n); got != c.want {
			t.Fatalf("IsPrime(%d) = %t, want %t", c.n, got, c.want)
		}
	}
}
