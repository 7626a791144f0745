package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"millrace/transforms/difflib"
)

// TestDiffSimilarity: the cases of SWE-RL's own tests, and what is said to be different.
func TestDiffSimilarity(t *testing.T) {
	const a = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@ def f():\n-x\n+y\n"
	b := strings.ReplaceAll(a, "a.py", "b.py")
	plain := strings.SplitN(a, "\n", 2)[1]
	for _, c := range []struct {
		name, oracle, predicted string
		want                    float64
	}{
		{"the same", a, a, 1},
		{"another file", a, b, 0},
		{"one file too many", a, a + b, 0.5},
		{"one file missing", a + b, b, 0.5},
		{"none", "", "", 1},
		{"what is no diff", "so what", "?", 1},
		{"what cannot be parsed", a, strings.Replace(a, "+1 @@", "+1,7 @@", 1), 0},
		{"not git's", a, plain, 1},
		{"git's side is a folder", strings.ReplaceAll(a, "a.py", "a/a.py"), a, 0},
		{"the last of two changes", a, strings.ReplaceAll(a, "+y", "+z") + a, 1},
		{"a change without hunks", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", 0},
		{"binary", "diff --git a/x b/x\nBinary files a/x and b/x differ\n", "", 1},
		{"a heading's spaces", a, strings.ReplaceAll(a, "def f():", " def f(): "), 1},
		// "@@ -1,1 +1,1 @@ def f():\n-x\n+y" has 30 characters, the other 21, of which 21 match.
		{"no heading", a, strings.ReplaceAll(a, " def f():", ""), 42.0 / 51},
	} {
		if got, err := DiffSimilarity(c.oracle, c.predicted); err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	long := strings.Replace(a, "+y", "+"+strings.Repeat("y", difflib.MaxElements), 1)
	if got, err := DiffSimilarity(a, long); got != 0 || !errors.Is(err, difflib.ErrTooMuch) {
		t.Errorf("too long: %v, %v", got, err)
	}
}

var (
	unidiff = flag.String("unidiff", "", "a Python that has unidiff 0.7.5, to compare with")
	update  = flag.Bool("update", false, "with -unidiff: write testdata/unidiff.json anew")
)

const unidiffFile = "testdata/unidiff.json"

// rated are two diffs and what SWE-RL's rule over unidiff 0.7.5 and CPython's difflib
// gives for them.
type rated struct {
	Oracle, Predicted string
	Ratio             float64
}

// TestDiffSimilarityIsUnidiffs: values that the real unidiff has given, for diffs of
// git and others, with renames, modes, binary files, headings and missing line ends.
func TestDiffSimilarityIsUnidiffs(t *testing.T) {
	text, err := os.ReadFile(unidiffFile)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []rated
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 100 {
		t.Fatalf("%d vectors in %s", len(vectors), unidiffFile)
	}
	for i, v := range vectors {
		// Python sums in another order.
		if got, err := DiffSimilarity(v.Oracle, v.Predicted); err != nil || math.Abs(got-v.Ratio) > 1e-15 {
			t.Errorf("vector %d: %v, %v, want %v, of\n%s\nand\n%s", i, got, err, v.Ratio, v.Oracle, v.Predicted)
		}
	}
}

// byUnidiff is what SWE-RL's reward makes of a diff, and of two.
const byUnidiff = `
import difflib, json, sys, unidiff

def bare(name):
    return name[2:] if name[:2] in ("a/", "b/") else name

def files(text):
    try:
        patch = unidiff.PatchSet(text)
    except Exception:
        return {}
    out = {}
    for f in patch:
        if f.is_binary_file:
            continue
        path, head = f.path, ""
        if f.is_rename:
            path, head = bare(f.source_file), f"rename from {bare(f.source_file)} to {bare(f.target_file)}"
        out[path] = (head + "\n" + "\n".join(str(h).strip() for h in f)).strip()
    return out

def rated(oracle, predicted):
    want, got = files(oracle), files(predicted)
    def ratio(path):
        a, b = got.get(path, ""), want.get(path, "")
        return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() if a and b else 0.0
    paths = sorted(want | got)
    return {"Oracle": oracle, "Predicted": predicted, "Ratio": sum(map(ratio, paths)) / len(paths) if paths else 1.0}

pairs = json.load(sys.stdin)
json.dump({"Files": [[files(a), files(b)] for a, b in pairs], "Rated": [rated(a, b) for a, b in pairs]}, sys.stdout)
`

// TestHunksAreUnidiffs compares file by file with the Python that -unidiff names.
func TestHunksAreUnidiffs(t *testing.T) {
	if *unidiff == "" {
		t.Skip("no -unidiff to compare with; the values of " + unidiffFile + " are its own")
	}
	pairs := diffs(150)
	input, err := json.Marshal(pairs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(*unidiff, "-c", byUnidiff)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Files [][2]fileDiffs
		Rated []rated
	}
	if err := json.Unmarshal(output, &want); err != nil {
		t.Fatal(err)
	}
	for i, pair := range pairs {
		for k, text := range pair {
			if got := hunksOf(text); !maps.Equal(got, want.Files[i][k]) {
				t.Errorf("%q\nhas %q,\nwant %q", text, got, want.Files[i][k])
			}
		}
	}
	if !*update || t.Failed() {
		return
	}
	vectors, err := json.MarshalIndent(want.Rated, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(unidiffFile, append(vectors, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FuzzDiffSimilarity: whatever two texts are, the ratio is of 0 to 1; and of a text and
// itself it is the share of files that have hunks or another name.
func FuzzDiffSimilarity(f *testing.F) {
	for _, pair := range diffs(10) {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, oracle, predicted string) {
		got, err := DiffSimilarity(oracle, predicted)
		if err != nil || !(got >= 0 && got <= 1) {
			t.Errorf("%q, %q: %v, %v", oracle, predicted, got, err)
		}
		files, changed := hunksOf(oracle), 0.0
		for _, hunks := range files {
			if hunks != "" {
				changed++
			}
		}
		want := 1.0
		if len(files) > 0 {
			want = changed / float64(len(files))
		}
		if same, err := DiffSimilarity(oracle, oracle); err != nil || same != want {
			t.Errorf("%q and itself: %v, %v, want %v", oracle, same, err, want)
		}
	})
}

// diffs are pairs of patches, the second of which is often an edit of the first.
func diffs(n int) [][2]string {
	r := rand.New(rand.NewPCG(7, 7))
	pairs := make([][2]string, n)
	for i := range pairs {
		names := r.Perm(6)[:1+r.IntN(3)]
		pairs[i][0] = patchOf(r, names)
		if r.IntN(3) > 0 {
			names[r.IntN(len(names))] = r.IntN(6)
			pairs[i][1] = patchOf(r, slices.Compact(names))
		} else {
			pairs[i][1] = strings.Replace(pairs[i][0], "return", "yield", 1)
		}
	}
	return pairs
}

var paths = []string{"setup.py", "src/app.py", "src/core/base.go", "a/b.txt", "docs/über uns.md", "tests/test_app.py"}

// patchOf is a patch of the files, in one of the forms in which patches come.
func patchOf(r *rand.Rand, names []int) string {
	var b strings.Builder
	git := r.IntN(4) > 0
	mail := git && r.IntN(5) == 0
	if mail {
		b.WriteString("From 1f3a Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nSubject: [PATCH] fix it\n\nIt was wrong.\n---\n src/app.py | 2 +-\n 1 file changed\n\n")
	}
	for i, name := range names {
		if git {
			writeGit(&b, r, paths[name], i == len(names)-1)
		} else {
			fmt.Fprintf(&b, "--- a/%s\t2024-03-0%d 11:22:33.000000000 +0100\n+++ b/%[1]s\t2024-03-05 10:00:00.000000000 +0100\n", paths[name], 1+r.IntN(4))
			writeHunks(&b, r, 1, 1)
		}
	}
	switch {
	case mail:
		b.WriteString("-- \n2.43.0\n\n")
	case r.IntN(12) == 0: // the last line is missing, as where an answer got too long
		return b.String()[:strings.LastIndex(b.String()[:b.Len()-1], "\n")+1]
	}
	return b.String()
}

// writeGit writes what git says of a file; the last one has hunks and keeps its name.
func writeGit(b *strings.Builder, r *rand.Rand, path string, last bool) {
	head := func(from, to string) { fmt.Fprintf(b, "diff --git a/%s b/%s\n", from, to) }
	kind := r.IntN(9)
	if last {
		kind = 9
	}
	switch kind {
	case 0:
		head(path, path)
		fmt.Fprintf(b, "new file mode 100644\nindex 0000000..%07x\n--- /dev/null\n+++ b/%s\n", r.IntN(1<<28), path)
		writeHunks(b, r, 0, 1)
	case 1:
		head(path, path)
		fmt.Fprintf(b, "deleted file mode 100644\nindex %07x..0000000\n--- a/%s\n+++ /dev/null\n", r.IntN(1<<28), path)
		writeHunks(b, r, 1, 0)
	case 2:
		head(path, path+".old")
		fmt.Fprintf(b, "similarity index 9%d%%\nrename from %s\nrename to %[2]s.old\n", r.IntN(10), path)
		if r.IntN(2) == 0 {
			fmt.Fprintf(b, "index 1234567..%07x 100644\n--- a/%s\n+++ b/%[2]s.old\n", r.IntN(1<<28), path)
			writeHunks(b, r, 1, 1)
		}
	case 3:
		head(path, path)
		b.WriteString([]string{"old mode 100644\nnew mode 100755\n", "new file mode 100644\nindex 0000000..e69de29\n",
			"index 1234567..89abcde 100644\nBinary files a/" + path + " and b/" + path + " differ\n"}[r.IntN(3)])
	default:
		head(path, path)
		fmt.Fprintf(b, "index %07x..%07x 100644\n--- a/%s\n+++ b/%[3]s\n", r.IntN(1<<28), r.IntN(1<<28), path)
		writeHunks(b, r, 1, 1)
	}
}

// writeHunks writes up to three hunks, of old and new lines where the factors are 1.
func writeHunks(b *strings.Builder, r *rand.Rand, old, current int) {
	count, at := 1, 1+r.IntN(40)
	if old*current > 0 {
		count += r.IntN(3)
	}
	for hunk := range count {
		var body strings.Builder
		was, is := 0, 0
		line := func(mark string) {
			text := strings.Repeat("    ", r.IntN(3)) + []string{"return a + b", "if not self.items:", "x = {}", "", "// so", "raise ValueError(\"no é\")", "--i", "++i;"}[r.IntN(8)]
			body.WriteString(mark + text + []string{"\n", "\n", "\n", "\n", "\r\n"}[r.IntN(5)])
		}
		for range 1 + r.IntN(6) {
			kind := r.IntN(3)
			if old*current == 0 || body.Len() == 0 {
				kind = current
			}
			switch {
			case kind == 0 && old > 0:
				line("-")
				was++
			case kind == 1 && current > 0:
				line("+")
				is++
			default:
				line(" ")
				was++
				is++
			}
		}
		head := [2]string{lengths(at*old, was), lengths(at*current, is)}
		fmt.Fprintf(b, "@@ -%s +%s @@%s\n", head[0], head[1], []string{"", " def run(self):", " class A"}[r.IntN(3)])
		b.WriteString(body.String())
		if hunk == count-1 && r.IntN(4) == 0 {
			b.WriteString("\\ No newline at end of file\n")
		}
		at += was + 20
	}
}

func lengths(at, n int) string {
	if n == 1 {
		return fmt.Sprint(at)
	}
	return fmt.Sprintf("%d,%d", at, n)
}
