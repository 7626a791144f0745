package grade

import "testing"

func TestGrade(t *testing.T) {
	cases := []struct {
		score int
		want  string
	}{
		{95, "A"},
		{90, "A"},
		{89, "B"},
		{75, "B"},
		{74, "C"},
		{50, "C"},
		{49, "F"},
		{10, "F"},
	}
	for _, c := range cases {
		if got := Grade(c.score); got != c.want {
			t.Fatalf("Grade(%d) = %q, want %q", c.score, got, c.want)
		}
	}
}
