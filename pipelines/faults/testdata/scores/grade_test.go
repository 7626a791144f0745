package scores

import "testing"

func TestGrade(t *testing.T) {
	for mark, want := range map[int]string{-1: "-", 0: "C", 74: "C", 75: "B", 80: "C", 89: "B", 90: "A", 100: "A", 101: "-"} {
		if got := Grade(mark); got != want {
			t.Errorf("Grade(%d) = %q, want %q", mark, got, want)
		}
	}
}
