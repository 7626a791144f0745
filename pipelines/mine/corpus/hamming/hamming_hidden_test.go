package hamming

import "testing"

type hammingCase struct {
	a, b string
	want int
}

func checkHamming(t *testing.T, cases []hammingCase) {
	t.Helper()
	for _, c := range cases {
		if got := Hamming(c.a, c.b); got != c.want {
			t.Fatalf("Hamming(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestHammingEmpty(t *testing.T) {
	checkHamming(t, []hammingCase{
		{"", "", 0},
	})
}

func TestHammingEqual(t *testing.T) {
	checkHamming(t, []hammingCase{
		{"same", "same", 0},
	})
}

func TestHammingLength(t *testing.T) {
	checkHamming(t, []hammingCase{
		{"", "abc", 3},
		{"abc", "", 3},
	})
}

func TestHammingFirst(t *testing.T) {
	checkHamming(t, []hammingCase{
		{"aX", "bX", 1},
	})
}

func TestHammingAll(t *testing.T) {
	checkHamming(t, []hammingCase{
		{"abc", "xyz", 3},
	})
}

func TestHammingBoth(t *testing.T) {
	checkHamming(t, []hammingCase{
		{"ab", "axyz", 3},
	})
}
