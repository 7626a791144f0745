package taskset

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shell runs a command line as a task's are: by sh -c, in a directory.
func shell(t testing.TB, dir, command string) (string, int) {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func mustShell(t testing.TB, dir, command string) string {
	t.Helper()
	out, code := shell(t, dir, command)
	if code != 0 {
		t.Fatalf("exit status %d of\n%s\n%s", code, command, out)
	}
	return out
}

// holds tells whether a repository has an object.
func holds(dir, object string) bool {
	cmd := exec.Command("git", "cat-file", "-e", object)
	cmd.Dir = dir
	return cmd.Run() == nil
}

// TestAgentNeverSeesFutureCommits is invariant 4 for the history: in a clone as
// images have it, with a remote, branches, tags and a reflog that know the commit
// that repairs, none of it is left, and what HEAD descends from is.
func TestAgentNeverSeesFutureCommits(t *testing.T) {
	upstream := changed(t, files("a.py", "fault\n"), nil)
	git(t, upstream, "", "tag", "v1")
	base := strings.TrimSpace(git(t, upstream, "", "rev-parse", "HEAD"))
	put(t, upstream, files("a.py", "repaired\n"))
	git(t, upstream, "", "commit", "-q", "-a", "-m", "repair")
	git(t, upstream, "", "tag", "-a", "-m", "two", "v2")
	future := strings.TrimSpace(git(t, upstream, "", "rev-parse", "HEAD"))
	git(t, upstream, "", "branch", "stable")

	dir := filepath.Join(t.TempDir(), "clone")
	git(t, upstream, "", "clone", "-q", upstream, dir)
	git(t, dir, "", "fetch", "-q", "origin")
	git(t, dir, "", "reset", "-q", "--hard", base)
	if !holds(dir, future) {
		t.Fatal("the clone lacks the commit that should be cut off")
	}
	mustShell(t, dir, "set -e\n"+cutHistory)
	if holds(dir, future) || holds(dir, future+"^{tree}") {
		t.Error("the commit that repairs is still there")
	}
	if got := strings.TrimSpace(git(t, dir, "", "rev-parse", "HEAD")); got != base {
		t.Errorf("HEAD is %s, was %s", got, base)
	}
	if got := git(t, dir, "", "tag"); got != "v1\n" {
		t.Errorf("tags are %q, want that of the base alone", got)
	}
	if got := git(t, dir, "", "status", "--porcelain"); got != "" {
		t.Errorf("worktree is %q", got)
	}
	before := modified(t, filepath.Join(dir, ".git"))
	mustShell(t, dir, "set -e\n"+cutHistory)
	if after := modified(t, filepath.Join(dir, ".git")); after != before {
		t.Error("a repository without later commits is packed again")
	}
}

// modified lists the packs of a repository.
func modified(t testing.TB, gitDir string) string {
	t.Helper()
	packs, err := os.ReadDir(filepath.Join(gitDir, "objects", "pack"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, p := range packs {
		info, err := p.Info()
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(p.Name() + info.ModTime().String() + "\n")
	}
	return out.String()
}

// TestSmithSetup: the fault is in, the tests that must fail are out of the
// repository and of its history, and the gold patch gives back the sound source.
func TestSmithSetup(t *testing.T) {
	for _, c := range []struct {
		name, id, file, hidden, kept string
	}{
		{"python", "oauthlib__oauthlib.1fd52536.combine_file__09vlzwgc", "oauthlib/oauth2/rfc6749/tokens.py", "tests/oauth2/rfc6749/test_tokens.py", "tests/test_common.py"},
		{"go", "gin-gonic__gin.3c12d2a8.func_pm_flip_operators__1a2b3c4d", "context.go", "sub/abs_test.go", "context_test.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := importAll(t, Import{}, "testdata/swe-smith.jsonl")
			for _, task := range got.tasks {
				if task.ID != c.id {
					continue
				}
				// The sound source is what the reverse of the fault must give.
				sound := soundSource(t, task.GoldPatch, c.file)
				hidden := "func TestAbs(t *testing.T) {}\ndef test_scope(): pass\n"
				dir := changed(t, files(".gitignore", "*.pyc\n", c.file, sound, c.hidden, hidden, c.kept, "func TestContextCopy(\n"), nil)
				away := t.TempDir()
				put(t, dir, files("pkg/__pycache__/sound.pyc", "x"))
				mustShell(t, dir, strings.ReplaceAll(task.Setup, withheldTests, away))
				if text := read(t, dir, c.file); text == sound {
					t.Error("the source is without fault")
				}
				if _, err := os.Stat(filepath.Join(dir, c.hidden)); err == nil {
					t.Errorf("the agent sees %s", c.hidden)
				}
				if read(t, away, c.hidden) != hidden {
					t.Errorf("%s is not put away", c.hidden)
				}
				read(t, dir, c.kept)
				if _, err := os.Stat(filepath.Join(dir, "pkg", "__pycache__")); err == nil {
					t.Error("what Python compiled is left")
				}
				if n := strings.TrimSpace(git(t, dir, "", "rev-list", "--count", "--all", "HEAD")); n != "1" {
					t.Errorf("%s commits, want 1", n)
				}
				blob := strings.TrimSpace(git(t, dir, hidden, "hash-object", "--stdin"))
				if holds(dir, blob) {
					t.Error("the hidden tests are in the repository's objects")
				}
				if text := git(t, dir, "", "status", "--porcelain"); text != "" {
					t.Errorf("worktree is %q", text)
				}
				git(t, dir, task.GoldPatch, "apply", "-")
				if text := read(t, dir, c.file); text != sound {
					t.Errorf("the gold patch gives %q, want %q", text, sound)
				}
				mustShell(t, dir, strings.ReplaceAll(restoreTests, withheldTests, away))
				if read(t, dir, c.hidden) != hidden {
					t.Errorf("%s is not restored", c.hidden)
				}
				return
			}
			t.Fatalf("no task %s", c.id)
		})
	}
}

// soundSource is the file that a gold patch makes: its lines of context and those it
// adds, of a file that its hunks cover whole.
func soundSource(t testing.TB, patch, name string) string {
	t.Helper()
	var out strings.Builder
	inHunk := false
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && (line[0] == ' ' || line[0] == '+'):
			out.WriteString(line[1:])
		}
	}
	if out.Len() == 0 {
		t.Fatalf("the gold patch has no line of %s", name)
	}
	return out.String()
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestR2ESetup: tests and script lie outside of the repository, wherever they were,
// and nothing that Python made of them is left.
func TestR2ESetup(t *testing.T) {
	for _, inside := range []bool{true, false} {
		dir := changed(t, files("a.py", "1\n"), nil)
		git(t, dir, "", "commit", "-q", "-m", "two", "--allow-empty")
		root := t.TempDir()
		tests := root
		if inside {
			tests = dir
		}
		put(t, tests, files("r2e_tests/test_1.py", "def test(): pass\n", "r2e_tests/__pycache__/test_1.pyc", "x", "run_tests.sh", "echo PASSED r2e_tests/test_1.py::test\n"))
		put(t, dir, files("pkg/__pycache__/a.pyc", "x", ".venv/lib/__pycache__/kept.pyc", "x"))
		task := importAll(t, Import{Exclude: excluding(t, Benchmark...)}, "testdata/r2e-gym.jsonl").tasks[0]
		there := strings.NewReplacer("/r2e_tests", root+"/r2e_tests", "/run_tests.sh", root+"/run_tests.sh")
		mustShell(t, dir, there.Replace(task.Setup))
		for _, gone := range []string{"r2e_tests", "run_tests.sh", "pkg/__pycache__"} {
			if _, err := os.Stat(filepath.Join(dir, gone)); err == nil {
				t.Errorf("tests inside %v: %s is still there", inside, gone)
			}
		}
		read(t, dir, ".venv/lib/__pycache__/kept.pyc")
		read(t, root, "r2e_tests/test_1.py")
		if _, err := os.Stat(filepath.Join(root, "r2e_tests", "__pycache__")); err == nil {
			t.Errorf("tests inside %v: compiled tests are left", inside)
		}
		put(t, dir, files("r2e_tests/test_fake.py", "x", "run_tests.sh", "echo faked"))
		out, code := shell(t, dir, there.Replace(task.TestCommand))
		if code != 0 || !strings.Contains(out, "PASSED r2e_tests/test_1.py::test") || strings.Contains(out, "faked") {
			t.Errorf("tests inside %v: exit status %d, output\n%s", inside, code, out)
		}
		read(t, dir, "r2e_tests/test_1.py")
	}
}
