package grade

import "testing"

type gradeCase struct {
	score int
	want  string
}

func checkGrade(t *testing.T, cases []gradeCase) {
	t.Helper()
	for _, c := range cases {
		if got := Grade(c.score); got != c.want {
			t.Fatalf("Grade(%d) = %q, want %q", c.score, got, c.want)
		}
	}
}

func TestGradeTop(t *testing.T) {
	checkGrade(t, []gradeCase{
		{100, "A"},
		{97, "A"},
	})
}

func TestGradeA(t *testing.T) {
	checkGrade(t, []gradeCase{
		{90, "A"},
		{91, "A"},
	})
}

func TestGradeB(t *testing.T) {
	checkGrade(t, []gradeCase{
		{89, "B"},
		{75, "B"},
		{80, "B"},
	})
}

func TestGradeC(t *testing.T) {
	checkGrade(t, []gradeCase{
		{74, "C"},
		{50, "C"},
		{60, "C"},
	})
}

func TestGradeF(t *testing.T) {
	checkGrade(t, []gradeCase{
		{49, "F"},
		{0, "F"},
	})
}
