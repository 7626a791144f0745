package warmstart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/mine"
	"millrace/transforms/inject"
)

// list runs the command that lists operators on a source.
func list(t *testing.T, source string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", listOperators+file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

func TestList(t *testing.T) {
	got := entries(list(t, `// Package p has a < b.
package p

func f(a, b *int, xs []int) (n int) {
	for i := 0; i < len(xs)-1; i++ {
		n += xs[i+1] // += would be - wrong
		n++
	}
	return *a == -1 && *b != n
}
`))
	want := []string{"i < len(xs)-1;", "< len(xs)-1; i++", "len(xs)-1; i++ {", "n += xs[i+1]", "+= xs[i+1] //", "n++", "*a == -1", "-1 && *b", "*b != n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	for _, broken := range []string{"", "1", "2\na < b", "x\n1\na < b", "No such file"} {
		if got := entries(broken); len(got) != 0 {
			t.Errorf("entries of %q: %q", broken, got)
		}
	}
	if got := entries("1\na < b\n3\nb < c"); len(got) != 1 {
		t.Errorf("a list that was cut gave %q", got)
	}
}

// TestEveryCandidateIsListed: on the real tasks, in the order of the list, each
// with its own place.
func TestEveryCandidateIsListed(t *testing.T) {
	tasks, err := mine.Default()
	if err != nil {
		t.Fatal(err)
	}
	kinds := []inject.Kind{inject.FlipOperators, inject.Boundary}
	seen := map[string]bool{}
	for _, task := range mine.OfKinds(tasks, kinds) {
		source := task.Files[0].Content
		if seen[task.Repo] { // the faults of one function hardly differ in their lists
			continue
		}
		seen[task.Repo] = true
		all := candidates(viewOf(source), kinds)
		located := locate(all, entries(list(t, source)))
		if len(located) != len(all) {
			t.Errorf("%s: %d of %d candidates are in the list", task.ID, len(located), len(all))
		}
		last := entry{}
		for _, c := range located {
			if c.number < last.number || c.again != 0 && (c.again != last.again+1 || c.number != last.number) || c.text != c.edit(1).before {
				t.Errorf("%s: %v has entry %v after %v", task.ID, c.Fault, c.entry, last)
			}
			last = c.entry
		}
	}
	if len(seen) < 40 {
		t.Errorf("%d functions", len(seen))
	}
}
