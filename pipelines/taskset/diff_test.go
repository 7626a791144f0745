package taskset

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// git runs git in a directory, and is the independent source of these tests.
func git(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// needGit skips a test where there is no git, unless all tests are required.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// put writes files; nil removes one.
func put(t testing.TB, dir string, files map[string]*string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if content == nil {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(*content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// changed makes a repository whose worktree was committed as before, then changed.
func changed(t testing.TB, before, after map[string]*string) string {
	t.Helper()
	needGit(t)
	dir := t.TempDir()
	git(t, dir, "", "init", "-q", "-b", "main")
	put(t, dir, before)
	git(t, dir, "", "add", "-A")
	git(t, dir, "", "commit", "-q", "-m", "one", "--allow-empty")
	put(t, dir, after)
	git(t, dir, "", "add", "-A")
	return dir
}

var diffs = []struct {
	name          string
	before, after map[string]*string
}{
	{"a line", files("a.py", "one\ntwo\nthree\n"), files("a.py", "one\n2\nthree\n")},
	{"several hunks", files("a.py", strings.Repeat("x\n", 40)), files("a.py", "first\n"+strings.Repeat("x\n", 20)+"middle\n"+strings.Repeat("x\n", 19)+"last\n")},
	{"mixed runs", files("a.py", "a\nb\nc\nd\ne\n"), files("a.py", "a\nB\nC\nnew\nd\nE\n")},
	{"no newline gained", files("a.py", "a\nb"), files("a.py", "a\nb\n")},
	{"no newline lost", files("a.py", "a\nb\n"), files("a.py", "a\nc")},
	{"new file", nil, files("dir/new.py", "new\n")},
	{"empty new file", nil, files("dir/__init__.py", "")},
	{"deleted file", files("old.py", "old\n", "b.py", "b\n"), map[string]*string{"old.py": nil}},
	{"path with spaces", files("a b/c.py", "1\n"), files("a b/c.py", "2\n")},
	{"path like a header", files("x b/y.py", "1\n"), files("x b/y.py", "2\n")},
	{"path not ASCII", files("é\t.py", "1\n"), files("é\t.py", "2\n")},
	{"CRLF", files("a.py", "a\r\nb\r\n"), files("a.py", "a\r\nc\r\n")},
	{"two files", files("a.py", "1\n", "b.py", "1\n"), files("a.py", "2\n", "b.py", "2\n")},
}

func files(pairs ...string) map[string]*string {
	m := map[string]*string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &pairs[i+1]
	}
	return m
}

// TestReversed: git applies the reverse of a diff of git, and has what was before.
func TestReversed(t *testing.T) {
	for _, c := range diffs {
		t.Run(c.name, func(t *testing.T) {
			dir := changed(t, c.before, c.after)
			d, err := parseDiff(git(t, dir, "", "diff", "--cached"))
			if err != nil {
				t.Fatal(err)
			}
			reverse, err := d.reversed()
			if err != nil {
				t.Fatal(err)
			}
			git(t, dir, reverse, "apply", "--index", "--whitespace=nowarn", "-")
			if left := git(t, dir, "", "diff", "--cached"); left != "" {
				t.Errorf("after the reverse\n%s\nthere is still\n%s", reverse, left)
			}
		})
	}
}

// TestReversedModeAndRename: what a diff says beside lines is reversed too.
func TestReversedModeAndRename(t *testing.T) {
	dir := changed(t, files("run.sh", "echo one\necho two\necho three\n", "old.py", "a\nb\nc\nd\n"), nil)
	git(t, dir, "", "mv", "old.py", "new.py")
	git(t, dir, "", "update-index", "--chmod=+x", "run.sh")
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := parseDiff(git(t, dir, "", "diff", "--cached", "-M"))
	if err != nil {
		t.Fatal(err)
	}
	reverse, err := d.reversed()
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, reverse, "apply", "--index", "-")
	if left := git(t, dir, "", "diff", "--cached"); left != "" {
		t.Errorf("after the reverse\n%s\nthere is still\n%s", reverse, left)
	}
}

func TestParseDiffRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "it changes no file"},
		{"prose", "see the pull request\n", "it changes no file"},
		{"binary", "diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n", "x.png is binary"},
		{"cut", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", "parsing the diff"},
	} {
		if _, err := parseDiff(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestPatchedFiles: the same paths as git has.
func TestPatchedFiles(t *testing.T) {
	for _, c := range diffs {
		dir := changed(t, c.before, c.after)
		want := strings.Split(strings.TrimSuffix(git(t, dir, "", "diff", "--cached", "--name-only", "-z"), "\x00"), "\x00")
		got := patchedFiles(git(t, dir, "", "diff", "--cached"))
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-git +ours):\n%s", c.name, diff)
		}
	}
	renamed := "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
	if got := patchedFiles(renamed); !slices.Equal(got, []string{"old.py", "new.py"}) {
		t.Errorf("rename gives %q", got)
	}
}
