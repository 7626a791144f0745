package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/prove"
)

func TestStatement(t *testing.T) {
	issues := map[int]Issue{7: {7, "It crashes", "On Mondays.\n"}, 8: {8, "It is slow", ""}}
	cases := []struct{ name, message, want string }{
		{"trailers", "Mend it\n\nIt was broken.\n\nFor #4\nSigned-off-by: A <a@b>\nReviewed-by: B <b@c>\nChange-Id: I1\n", "Mend it\n\nIt was broken."},
		{"hashes", "Revert 0a1b2c3d4e\n\nSince 89abcdef01234567890123456789012345678901 it hangs, defaced or not, 1234567 times.", "Revert a commit\n\nSince a commit it hangs, defaced or not, 1234567 times."},
		{"pull request", "Mend it (#12)", "Mend it"},
		{"one issue", "Mend it\n\nFixes #7", "It crashes\n\nOn Mondays."},
		{"two issues, in order, once", "Resolves: #8, closed #7, fix #8", "It is slow\n\nIt crashes\n\nOn Mondays."},
		{"an issue that is not known", "Mend it now\n\nFixes #9", "Mend it now"},
		{"only mentioned", "Prefixes #7 are affixes", "Prefixes #7 are affixes"},
		{"nothing but trailers", "Signed-off-by: A <a@b>", ""},
		{"line ends of Windows", "Mend it\r\n\r\nCloses #9\r\n", "Mend it"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Statement(c.message, issues); got != c.want {
				t.Errorf("Statement = %q, want %q", got, c.want)
			}
		})
	}
}

// TestReject has a commit on each side of each number.
func TestReject(t *testing.T) {
	files := func(n, lines int) (out []Change) {
		for i := range n {
			out = append(out, Change{Path: fmt.Sprintf("a%d.go", i), Added: lines})
		}
		return append(out, Change{Path: "a_test.go", Added: 9000})
	}
	const ok = "It has a statement"
	cases := []struct {
		name      string
		commit    Commit
		statement string
		want      prove.Reason
	}{
		{"one file", Commit{Parent: "p", Files: files(1, 500)}, ok, prove.None},
		{"a line too many", Commit{Parent: "p", Files: files(1, 501)}, ok, Huge},
		{"eight files", Commit{Parent: "p", Files: files(8, 1)}, ok, prove.None},
		{"nine files", Commit{Parent: "p", Files: files(9, 1)}, ok, Huge},
		{"first commit", Commit{Files: files(1, 1)}, ok, Root},
		{"no test", Commit{Parent: "p", Files: files(1, 1)[:1]}, ok, NoTests},
		{"only tests", Commit{Parent: "p", Files: files(0, 1)}, ok, NoSource},
		{"vendored source", Commit{Parent: "p", Files: append(files(0, 1), Change{Path: "vendor/a/a.go"})}, ok, NoSource},
		{"author is a bot", Commit{Parent: "p", Author: "x[bot] <x>", Files: files(1, 1)}, ok, Bot},
		{"message of a bot", Commit{Parent: "p", Message: "Automerge of x", Files: files(1, 1)}, ok, Bot},
		{"ten characters", Commit{Parent: "p", Files: files(1, 1)}, "0123456789", NoStatement},
		{"eleven characters", Commit{Parent: "p", Files: files(1, 1)}, "0123456789é", prove.None},
		{"binary", Commit{Parent: "p", Files: append(files(1, 1), Change{Path: "testdata/x", Binary: true})}, ok, Binary},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := Reject(c.commit, c.statement); got != c.want {
				t.Errorf("Reject = %q, want %q", got, c.want)
			}
		})
	}
}

func TestChangedDirs(t *testing.T) {
	c := Commit{Files: []Change{{Path: "a.go"}, {Path: "b/c/testdata/d/e.golden"}, {Path: "testdata/x"}, {Path: "f/g_test.go"}, {Path: "doc/x.md"}}}
	if diff := cmp.Diff([]string{".", "b/c", "f"}, changedDirs(c)); diff != "" {
		t.Error(diff)
	}
}

func TestReadIssues(t *testing.T) {
	text := "{\"number\":1,\"title\":\"a\",\"labels\":[]}\n\n{\"number\":\"2\"}\n{\"title\":\"no number\"}\n{\"number\":1,\"title\":\"again\"}\n{\"number\":3}\n{\"number\":4,\"body\":\"b\"}\n"
	issues, bad, err := ReadIssues("issues.jsonl", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int]Issue{1: {1, "a", ""}, 4: {4, "", "b"}}, issues); diff != "" {
		t.Error(diff)
	}
	for i, line := range []int{3, 4, 5, 6} {
		if want := fmt.Sprintf("issues.jsonl:%d: ", line); len(bad) != 4 || !strings.HasPrefix(bad[i].Error(), want) {
			t.Fatalf("bad = %v, want one of line %d", bad, line)
		}
	}
}

func FuzzReadIssues(f *testing.F) {
	f.Add([]byte("{\"number\":1,\"title\":\"a\"}\n{}\nx"))
	f.Fuzz(func(t *testing.T, text []byte) {
		issues, bad, err := ReadIssues("f", strings.NewReader(string(text)))
		if lines := strings.Count(string(text), "\n") + 1; err == nil && len(issues)+len(bad) > lines {
			t.Fatalf("%d issues and %d bad lines of %d", len(issues), len(bad), lines)
		}
		for n, issue := range issues {
			if n <= 0 || issue.Number != n || issue.Title+issue.Body == "" {
				t.Fatalf("issue %d is %+v", n, issue)
			}
		}
	})
}

// FuzzParseLog holds for any text: no panic, and what is read has whole hashes, paths
// and numbers that are not negative.
func FuzzParseLog(f *testing.F) {
	hash := strings.Repeat("0a", 20)
	f.Add([]byte("\x01" + hash + "\x00" + hash + " " + hash + "\x00Ada <a@b>\x00Title\n\nBody\n\x00\n1\t2\ta.go\x00-\t-\tb\tc.png\x00\x01" + hash + "\x00\x00A\x00\x00"))
	f.Add([]byte("\x01\x00\x00\x00\x00"))
	f.Add([]byte("\x01" + hash + "\x00\x00\x00\x00-1\t2\ta\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		commits, err := ParseLog(text)
		if err == nil && len(text) > 0 && len(commits) == 0 {
			t.Fatal("text without a commit is accepted")
		}
		for _, c := range commits {
			if !isHash(c.Hash) {
				t.Fatalf("hash %q", c.Hash)
			}
			for _, file := range c.Files {
				if file.Path == "" || file.Added < 0 || file.Removed < 0 || file.Binary && file.Added+file.Removed > 0 {
					t.Fatalf("change %+v", file)
				}
			}
		}
	})
}

func FuzzStatement(f *testing.F) {
	f.Add("Mend it\n\nFixes #7\nSigned-off-by: A <a@b>\xff")
	f.Add("0123456789abcdef")
	f.Fuzz(func(t *testing.T, message string) {
		got := Statement(message, nil)
		if strings.TrimSpace(got) != got {
			t.Fatalf("%q has spaces around it", got)
		}
		for _, word := range hash.FindAllString(got, -1) {
			if strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdef") {
				t.Fatalf("%q names the commit %s", got, word)
			}
		}
	})
}
