package mine

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

var update = flag.Bool("update", false, "make tasks.jsonl again by running every fault's tests (some minutes)")

// TestDefaultIsBuilt holds tasks.jsonl to the corpus: each task in it is, but
// for what only a test run can tell, the candidate that the corpus gives today.
func TestDefaultIsBuilt(t *testing.T) {
	programs := corpus(t)
	if *update {
		tasks, stats, err := Build(context.Background(), DefaultBuildConfig(), programs)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("candidates %v, tasks %d, visible test fails in %d", stats.Outcomes, stats.Tasks, stats.VisibleFails)
		var file bytes.Buffer
		if err := Write(&file, tasks); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("tasks.jsonl", file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		defaultTasks = file.Bytes()
	}
	candidates := candidatesByID(t, programs)
	for _, task := range defaults(t) {
		c, ok := candidates[task.ID]
		if !ok {
			t.Fatalf("task %s is no candidate of the corpus; make the set again with -update", task.ID)
		}
		want := c.Task
		want.Split, want.Statement, want.FailToPass, want.PassToPass = task.Split, task.Statement, task.FailToPass, task.PassToPass
		if diff := cmp.Diff(want, task); diff != "" {
			t.Fatalf("task %s differs from its candidate; make the set again with -update (-want +got):\n%s", task.ID, diff)
		}
		tests, err := c.Program.tests()
		if err != nil {
			t.Fatal(err)
		}
		expected := slices.Sorted(slices.Values(slices.Concat(task.FailToPass, task.PassToPass)))
		if slices.Sort(tests); !slices.Equal(tests, expected) {
			t.Errorf("task %s expects results of %v, its tests are %v", task.ID, expected, tests)
		}
	}
}

// TestSampleIsValid runs the tests of some default tasks for real: as they are,
// each list of expected results comes out as recorded; with the gold patch
// everything passes.
func TestSampleIsValid(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	candidates := candidatesByID(t, corpus(t))
	tasks := defaults(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, i := range rng.Perm(len(tasks))[:6] {
		task := tasks[i]
		t.Run(task.ID, func(t *testing.T) {
			c := candidates[task.ID]
			v, err := Validate(t.Context(), c, DefaultBuildConfig().TestTimeout)
			if err != nil {
				t.Fatal(err)
			}
			v.Task.Split = task.Split
			if diff := cmp.Diff(task, v.Task); diff != "" || v.Outcome != Valid {
				t.Errorf("outcome %s (-shipped +now):\n%s", v.Outcome, diff)
			}
			mended := c.Program
			mended.Source = patched(t, task)
			if err := CheckProgram(t.Context(), mended, DefaultBuildConfig().TestTimeout); err != nil {
				t.Errorf("with the gold patch: %v", err)
			}
		})
	}
}

// TestValidateTellsOutcomes has one candidate for each way to fail.
func TestValidateTellsOutcomes(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	p := Program{
		Name: "double", Function: "Double",
		Visible: "package double\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif got := Double(3); got != 6 {\n\t\tt.Fatalf(\"Double(3) = %d, want 6\", got)\n\t}\n}\n",
		Hidden:  "package double\n\nimport \"testing\"\n\nfunc TestDoubleZero(t *testing.T) {\n\tif got := Double(0); got != 0 {\n\t\tt.Fatalf(\"hidden %d\", got)\n\t}\n}\n",
	}
	cases := []struct {
		name, body string
		want       Outcome
		statement  string
		visible    bool
	}{
		{"visible failure", "return x + 2*x", Valid, "Double is broken: Double(3) = 9, want 6.", true},
		{"hidden failure", "if x == 0 {\n\t\treturn 1\n\t}\n\treturn 2 * x", Valid, "Double gives a wrong result for some inputs.", false},
		{"panic", "if x > 0 {\n\t\tx = []int{}[x]\n\t}\n\treturn x", Valid, `Double is broken: it panics with "index out of range [3] with length 0".`, true},
		{"no fault", "return 2 * x", NoFailToPass, "Double gives a wrong result for some inputs.", false},
		{"all fail", "return 2*x + 1", NoPassToPass, "Double is broken: Double(3) = 7, want 6.", true},
		{"loop", "for x > 0 {\n\t}\n\treturn x", Unbounded, "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			source := "package double\n\nfunc Double(x int) int {\n\t" + c.body + "\n}\n"
			candidate := Candidate{Program: p, Task: schemas.Task{
				ID: c.name, Files: p.workspace(source),
				HiddenTests: []schemas.File{{Path: HiddenTest, Content: p.Hidden}},
			}}
			limit := DefaultBuildConfig().TestTimeout
			if c.want == Unbounded {
				limit = time.Second // it is reached anyway
			}
			v, err := Validate(t.Context(), candidate, limit)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != c.want || v.Task.Statement != c.statement || v.VisibleFails != c.visible {
				t.Errorf("outcome %q, statement %q, visible test fails %t; want %q, %q, %t",
					v.Outcome, v.Task.Statement, v.VisibleFails, c.want, c.statement, c.visible)
			}
		})
	}
	t.Run("does not compile", func(t *testing.T) {
		candidate := Candidate{Program: p, Task: schemas.Task{ID: "bad", Files: p.workspace("package double\n")}}
		if _, err := Validate(t.Context(), candidate, DefaultBuildConfig().TestTimeout); err == nil || !strings.Contains(err.Error(), "Double") {
			t.Errorf("error %v, want one that shows the compiler's", err)
		}
	})
}

func corpus(t *testing.T) []Program {
	t.Helper()
	programs, err := Corpus()
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

func defaults(t *testing.T) []schemas.Task {
	t.Helper()
	tasks, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	return tasks
}

func candidatesByID(t *testing.T, programs []Program) map[string]Candidate {
	t.Helper()
	byID := map[string]Candidate{}
	for _, p := range programs {
		candidates, err := Candidates(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range candidates {
			if _, twice := byID[c.Task.ID]; twice {
				t.Fatalf("two candidates have the id %s", c.Task.ID)
			}
			byID[c.Task.ID] = c
		}
	}
	return byID
}

// patched returns the task's source file with the gold patch, by a library that
// had no part in making it.
func patched(t *testing.T, task schemas.Task) string {
	t.Helper()
	files, _, err := gitdiff.Parse(strings.NewReader(task.GoldPatch))
	if err != nil || len(files) != 1 {
		t.Fatalf("parsing the gold patch: %d files, %v", len(files), err)
	}
	for _, f := range task.Files {
		if f.Path == files[0].OldName {
			var out bytes.Buffer
			if err := gitdiff.Apply(&out, strings.NewReader(f.Content), files[0]); err != nil {
				t.Fatalf("applying the gold patch: %v", err)
			}
			return out.String()
		}
	}
	t.Fatalf("the gold patch is for %s, which the task has not", files[0].OldName)
	return ""
}
