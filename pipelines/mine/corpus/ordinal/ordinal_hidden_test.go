package ordinal

import "testing"

type ordinalCase struct {
	n    int
	want string
}

func checkOrdinal(t *testing.T, cases []ordinalCase) {
	t.Helper()
	for _, c := range cases {
		if got := Ordinal(c.n); got != c.want {
			t.Fatalf("Ordinal(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestOrdinalZero(t *testing.T) {
	checkOrdinal(t, []ordinalCase{
		{0, "th"},
		{10, "th"},
	})
}

func TestOrdinalPlain(t *testing.T) {
	checkOrdinal(t, []ordinalCase{
		{4, "th"},
		{9, "th"},
		{14, "th"},
	})
}

func TestOrdinalFirst(t *testing.T) {
	checkOrdinal(t, []ordinalCase{
		{1, "st"},
		{31, "st"},
		{101, "st"},
	})
}

func TestOrdinalSecond(t *testing.T) {
	checkOrdinal(t, []ordinalCase{
		{2, "nd"},
		{22, "nd"},
	})
}

func TestOrdinalThird(t *testing.T) {
	checkOrdinal(t, []ordinalCase{
		{3, "rd"},
		{43, "rd"},
	})
}

func TestOrdinalTeens(t *testing.T) {
	checkOrdinal(t, []ordinalCase{
		{11, "th"},
		{12, "th"},
		{13, "th"},
		{113, "th"},
	})
}
