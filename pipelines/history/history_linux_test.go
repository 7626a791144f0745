package history_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/pipelines/history"
	"millrace/pipelines/prove"
	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/sandboxtest"
	"millrace/transforms/score"
	"millrace/transforms/testlog"
)

// clone is a repository that a test fills with commits.
type clone struct {
	t   *testing.T
	dir string
}

func newClone(t *testing.T) clone {
	t.Helper()
	c := clone{t, t.TempDir()}
	c.git("init", "--quiet", "--initial-branch=main")
	return c
}

func (c clone) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files ("" removes one) and returns the hash.
func (c clone) commit(message string, files map[string]string) string {
	c.t.Helper()
	for name, text := range files {
		path := filepath.Join(c.dir, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				c.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	c.git("add", "--all")
	c.git("commit", "--quiet", "--message", message)
	return c.git("rev-parse", "HEAD")
}

const (
	head     = "package m\n\nimport \"testing\"\n\n"
	maxWrong = "package m\n\n// Max is the larger one.\nfunc Max(a, b int) int {\n\treturn a\n}\n"
	maxRight = "package m\n\n// Max is the larger one.\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n"
	testSame = head + "func TestSame(t *testing.T) {\n\tif Max(2, 2) != 2 {\n\t\tt.Fail()\n\t}\n}\n"
	testOne  = "package sub\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fail()\n\t}\n}\n"
	testTwo  = "package sub_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/sub\"\n)\n\nfunc TestTwo(t *testing.T) {\n\tif sub.Two() != 2 {\n\t\tt.Fail()\n\t}\n}\n"
	testMax  = testSame + "\nfunc TestMax(t *testing.T) {\n\tif got := Max(1, 2); got != 2 {\n\t\tt.Errorf(\"Max(1, 2) = %d\", got)\n\t}\n}\n"
)

// TestMine mines a history in which one commit, one merge and one with a removed test
// file are tasks, and holds each to what a scorer sees.
func TestMine(t *testing.T) {
	c := newClone(t)
	c.commit("Begin", map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "max.go": maxWrong, "max_test.go": testSame,
		"sub/sub.go": "package sub\n\n// One is one.\nfunc One() int { return 1 }\n", "sub/sub_test.go": testOne})
	fix := c.commit("Max returns the larger number\n\nIt did not. See 0123abcdef4567.\n\nSigned-off-by: Ada <ada@example.com>", map[string]string{"max.go": maxRight, "max_test.go": testMax})
	onlyDocs := c.commit("Say more about the module here", map[string]string{"README.md": "# m\n"})
	bot := c.commit("Bump the limits of everything", map[string]string{"min.go": "package m\n", "min_test.go": "package m\n"})
	same := c.commit("Rename an argument of Max for clarity", map[string]string{"max.go": strings.ReplaceAll(maxRight, "b", "c"), "max_test.go": testMax + "\n// The end.\n"})
	c.git("checkout", "--quiet", "-b", "side")
	c.commit("First half", map[string]string{"min.go": "package m\n\n// Min is the smaller one.\nfunc Min(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n"})
	c.commit("Second half", map[string]string{"min_test.go": head + "func TestMin(t *testing.T) {\n\tif Min(1, 2) != 1 {\n\t\tt.Fail()\n\t}\n}\n",
		"sub/sub.go": "package sub\n\n// One is 1.\nfunc One() int { return 1 }\n"})
	c.git("checkout", "--quiet", "main")
	c.git("merge", "--quiet", "--no-ff", "--message", "Merge side: there is a minimum too (#12)\n\nFixes #7", "side")
	merge := c.git("rev-parse", "HEAD")
	removed := c.commit("Min of equal numbers is tested elsewhere now", map[string]string{"min_test.go": "",
		"sub/sub.go":      "package sub\n\n// One is 1, Two is 2.\nfunc One() int { return 1 }\n\n// Two is 2.\nfunc Two() int { return 2 }\n",
		"sub/two_test.go": testTwo})

	boxes := sandboxtest.Process(t, sandbox.Limits{OutputBytes: prove.OutputBytes})
	suite := prove.Suite{Sandboxes: boxes, Limit: 5 * time.Second}
	issues := map[int]history.Issue{7: {Number: 7, Title: "A minimum is missing", Body: "There is only a maximum."}}
	work, err := history.New(t.Context(), history.DefaultConfig(), history.Repo{Dir: c.dir}, issues, suite)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]prove.Decision{}
	decided := func(d prove.Decision) error { got[d.ID] = d; return nil }
	err = work.List(t.Context(), "log", func(string) bool { return false }, func(c prove.Candidate) error {
		d, err := work.Decide(t.Context(), c)
		if err != nil {
			return err
		}
		return decided(d)
	}, decided)
	if err != nil {
		t.Fatal(err)
	}
	of := func(hash string) prove.Decision { return got["example.com/m/commit/"+hash[:12]] }
	for hash, want := range map[string]prove.Reason{onlyDocs: history.NoSource, bot: history.Bot, same: prove.NoFailToPass} {
		if d := of(hash); d.Reason != want {
			t.Errorf("%s: %+v, want %q", c.git("log", "-1", "--format=%s", hash), d, want)
		}
	}
	if n := 7; len(got) != n { // the two on the side branch are no commits of their own
		t.Errorf("%d commits are decided on, want %d", len(got), n)
	}
	t.Run("fix", func(t *testing.T) {
		task := of(fix).Task
		if task == nil {
			t.Fatalf("no task: %+v", of(fix))
		}
		if want := "Max returns the larger number\n\nIt did not. See a commit."; task.Statement != want {
			t.Errorf("statement %q, want %q", task.Statement, want)
		}
		if want := []string{"example.com/m.TestMax"}; !slices.Equal(task.FailToPass, want) {
			t.Errorf("fail-to-pass %q, want %q", task.FailToPass, want)
		}
		checkScores(t, boxes, *task)
	})
	t.Run("merge", func(t *testing.T) {
		task := of(merge).Task
		if task == nil {
			t.Fatalf("no task: %+v", of(merge))
		}
		if want := "A minimum is missing\n\nThere is only a maximum."; task.Statement != want {
			t.Errorf("statement %q, want %q", task.Statement, want)
		}
		checkScores(t, boxes, *task)
	})
	t.Run("removed test file", func(t *testing.T) {
		task := of(removed).Task
		if task == nil {
			t.Fatalf("no task: %+v", of(removed))
		}
		if slices.ContainsFunc(task.Files, func(f schemas.File) bool { return f.Path == "min_test.go" }) {
			t.Error("the agent sees the test file that the commit removed")
		}
		checkScores(t, boxes, *task)
	})
}

// checkScores holds a task to package score: with the gold patch all expected tests
// pass, without it the fail-to-pass tests fail and no other.
func checkScores(t *testing.T, boxes sandbox.Provider, task schemas.Task) {
	t.Helper()
	for patch, want := range map[string][]string{task.GoldPatch: nil, "": task.FailToPass} {
		files, err := score.Workspace(task, patch)
		if err != nil {
			t.Fatal(err)
		}
		box, err := boxes.Open(t.Context(), task.ID, sandbox.Spec{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		result, err := box.Exec(context.Background(), task.TestCommand, 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
		results, err := testlog.Parse(task.TestFormat, result.Output, testlog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		grade, err := testlog.Judge(task, results)
		if err != nil || !slices.Equal(grade.Failed, want) {
			t.Errorf("with patch %q fail %q, want %q (%v)", patch, grade.Failed, want, err)
		}
	}
}
