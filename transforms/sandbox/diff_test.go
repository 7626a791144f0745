package sandbox

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"millrace/schemas"
)

func TestDiff(t *testing.T) {
	before := []schemas.File{
		{Path: "same.go", Content: "x\n"},
		{Path: "gone.go", Content: "old\n"},
		{Path: "f.go", Content: "1\n2\n3\n4\n5\n6\n7\n8"},
	}
	after := []schemas.File{
		{Path: "f.go", Content: "1\n2\n3\n4\nfive\n6\n7\n8\n"},
		{Path: "new dir/é.go", Content: "n\n"},
		{Path: "empty", Content: ""},
		{Path: "same.go", Content: "x\n"},
	}
	// As "git diff --no-index" prints it, without index lines.
	const want = `diff --git a/empty b/empty
new file mode 100644
diff --git a/f.go b/f.go
--- a/f.go
+++ b/f.go
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
-8
\ No newline at end of file
+8
diff --git a/gone.go b/gone.go
deleted file mode 100644
--- a/gone.go
+++ /dev/null
@@ -1 +0,0 @@
-old
diff --git "a/new dir/\303\251.go" "b/new dir/\303\251.go"
new file mode 100644
--- /dev/null
+++ "b/new dir/\303\251.go"
@@ -0,0 +1 @@
+n
`
	if got := Diff(before, after); got != want {
		t.Errorf("Diff:\n%s\nwant:\n%s", got, want)
	}
	if got := Diff(before, before); got != "" {
		t.Errorf("Diff of equal files: %q", got)
	}
}

func TestApplyRefuses(t *testing.T) {
	files := []schemas.File{{Path: "a", Content: "1\n2\n"}}
	for name, patch := range map[string]string{
		"prose":             "change line 1",
		"other context":     "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n+1\n 2\n",
		"no such file":      "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n",
		"existing new file": "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+1\n",
		"outside":           "diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+1\n",
		"absolute":          "diff --git a//etc/x b//etc/x\nnew file mode 100644\n--- /dev/null\n+++ b//etc/x\n@@ -0,0 +1 @@\n+1\n",
		"short hunk":        "--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n 1\n",
	} {
		if got, err := Apply(files, patch); !errors.Is(err, ErrPatch) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// FuzzDiffApply: the patch between any two trees turns the one into the other.
func FuzzDiffApply(f *testing.F) {
	f.Add("a.go", "1\n2\n3\n", "1\nx\n3")
	f.Add(`q"uo te\`, "", "x")
	f.Add("d/é\t.go", "\r\n\x00\n\n", "\n")
	f.Fuzz(func(t *testing.T, path, was, is string) {
		path, err := Relative(path)
		if err != nil || path == "." {
			t.Skip()
		}
		r := rand.New(rand.NewPCG(uint64(len(was)), uint64(len(is))))
		before := []schemas.File{{Path: path, Content: was}, {Path: "z-" + strings.ReplaceAll(path, "/", ""), Content: is}}
		after := []schemas.File{{Path: path, Content: is}, {Path: "y-" + strings.ReplaceAll(path, "/", ""), Content: was}}
		if r.IntN(2) == 0 {
			before = before[1:]
		}
		got, err := Apply(before, Diff(before, after))
		if err != nil {
			t.Fatalf("%v\n%q", err, Diff(before, after))
		}
		slices.SortFunc(after, func(a, b schemas.File) int { return strings.Compare(a.Path, b.Path) })
		if !slices.Equal(got, after) {
			t.Errorf("got %q, want %q", got, after)
		}
	})
}

// FuzzApply: no patch panics, and every error says that it is the patch.
func FuzzApply(f *testing.F) {
	f.Add("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n")
	f.Add("diff --git a/a b/b\nsimilarity index 50%\nrename from a\nrename to b\n")
	f.Add("diff --git a/a b/a\nindex 1..2\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\n")
	f.Fuzz(func(t *testing.T, patch string) {
		got, err := Apply([]schemas.File{{Path: "a", Content: "1\n2\n"}}, patch)
		if err != nil && !errors.Is(err, ErrPatch) {
			t.Errorf("error without ErrPatch: %v", err)
		}
		for _, file := range got {
			if clean, err := Relative(file.Path); err != nil || clean != file.Path {
				t.Errorf("file name %q", file.Path)
			}
		}
	})
}
