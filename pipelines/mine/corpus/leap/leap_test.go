package leap

import "testing"

func TestLeap(t *testing.T) {
	cases := []struct {
		y    int
		want bool
	}{
		{2024, true},
		{2023, false},
		{1900, false},
		{2000, true},
		{2022, false},
		{1996, true},
		{2100, false},
	}
	for _, c := range cases {
		if got := Leap(c.y); got != c.want {
			t.Fatalf("Leap(%d) = %t, want %t", c.y, got, c.want)
		}
	}
}
