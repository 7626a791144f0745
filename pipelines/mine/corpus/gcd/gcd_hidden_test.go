package gcd

import "testing"

type gCDCase struct{ a, b, want int }

func checkGCD(t *testing.T, cases []gCDCase) {
	t.Helper()
	for _, c := range cases {
		if got := GCD(c.a, c.b); got != c.want {
			t.Fatalf("GCD(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestGCDZero(t *testing.T) {
	checkGCD(t, []gCDCase{
		{0, 0, 0},
	})
}

func TestGCDHalf(t *testing.T) {
	checkGCD(t, []gCDCase{
		{0, 7, 7},
		{7, 0, 7},
	})
}

func TestGCDPrime(t *testing.T) {
	checkGCD(t, []gCDCase{
		{13, 7, 1},
		{2, 3, 1},
	})
}

func TestGCDCommon(t *testing.T) {
	checkGCD(t, []gCDCase{
		{54, 24, 6},
		{100, 75, 25},
	})
}

func TestGCDNegative(t *testing.T) {
	checkGCD(t, []gCDCase{
		{-6, -9, 3},
		{6, -9, 3},
		{-5, 0, 5},
	})
}

func TestGCDOne(t *testing.T) {
	checkGCD(t, []gCDCase{
		{1, 0, 1},
		{0, 1, 1},
	})
}
