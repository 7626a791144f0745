package warmstart

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

// tree holds functions that make snippets and functions that do not.
func tree() fstest.MapFS {
	const good = "// Sum adds.\n// It does.\nfunc Sum(xs []int) int {\n\ts := 0\n\tfor i := 0; i < len(xs) && s > 9; i++ {\n\t\ts += xs[i]\n\t}\n\treturn s\n}\n"
	big := "func Big(a int) int {\n" + strings.Repeat("\ta = a + 1\n", snippetLines) + "\treturn a\n}\n"
	method := "type t int\n\nfunc (x t) M(y int) bool { return x < 1 && y > 2 || y*3 == 4+y }\n"
	small := "func Small(a int) int { return a }\n"
	foreign := "func Foreign(a int) bool { return a < 'ä' && a > 1 || a*2 == a+3 }\n"
	file := func(parts ...string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("package p\n\n" + strings.Join(parts, "\n"))}
	}
	return fstest.MapFS{
		"a/p.go":            file(good, big, method, small, foreign),
		"b/p.go":            file(strings.ReplaceAll(good, "Sum", "Add")),
		"b/p_test.go":       file(strings.ReplaceAll(good, "Sum", "Test")),
		"b/testdata/x.go":   file(strings.ReplaceAll(good, "Sum", "Data")),
		"b/broken.go":       {Data: []byte("package p\n\nfunc {")},
		"vendor/x/other.go": file(strings.ReplaceAll(good, "Sum", "Vendored")),
	}
}

func TestSnippets(t *testing.T) {
	got, err := Snippets(tree(), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b schemas.Task) int { return strings.Compare(a.ID, b.ID) })
	want := schemas.Task{ID: "a/Sum", Repo: "sum", Statement: "Sum is broken.", Files: []schemas.File{
		{Path: "code.go", Content: "package sum\n\n// Sum adds.\nfunc Sum(xs []int) int {\n\ts := 0\n\tfor i := 0; i < len(xs) && s > 9; i++ {\n\t\ts += xs[i]\n\t}\n\treturn s\n}\n"},
		{Path: "code_test.go", Content: "package sum\n"},
	}}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("snippet (-want +got):\n%s", diff)
	}
	if got[1].ID != "b/Add" {
		t.Errorf("the other is %s, want b/Add", got[1].ID)
	}
	if _, err := Snippets(tree(), 3, 1); err == nil || !strings.Contains(err.Error(), "found 2 of 3") {
		t.Errorf("three of two: %v", err)
	}
}
