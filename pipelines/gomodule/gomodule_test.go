package gomodule_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/gomodule"
	"millrace/schemas"
)

// of makes a module example.com/m of files.
func of(t *testing.T, files map[string]string) gomodule.Module {
	t.Helper()
	list := []schemas.File{{Path: "go.mod", Content: "module example.com/m\n\ngo 1.26\n"}}
	for name, text := range files {
		list = append(list, schemas.File{Path: name, Content: text})
	}
	m, err := gomodule.Of(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func importing(pkg string, paths ...string) string {
	text := "package " + pkg + "\n"
	for _, p := range paths {
		text += "import _ \"" + p + "\"\n"
	}
	return text
}

// TestDependents: a <- b <- c, d only by its test, e not; a and d have no tests of
// their own or theirs alone.
func TestDependents(t *testing.T) {
	m := of(t, map[string]string{
		"a/a.go":               importing("a", "fmt"),
		"b/b.go":               importing("b", "example.com/m/a"),
		"b/b_test.go":          importing("b_test", "testing"),
		"c/deep/c.go":          importing("c", "example.com/m/b"),
		"c/deep/c_test.go":     importing("c"),
		"d/d_test.go":          importing("d", "example.com/m/a"),
		"e/e.go":               importing("e", "example.com/m/abc"),
		"e/e_test.go":          importing("e"),
		"f/f.go":               importing("f", "example.com/m/d"), // tests of d do not reach f
		"f/f_test.go":          importing("f"),
		"root.go":              importing("m", "example.com/m/c/deep"),
		"root_test.go":         importing("m"),
		"testdata/x/x_test.go": importing("x", "example.com/m/a"),
		"vendor/v/v_test.go":   importing("v", "example.com/m/a"),
		"broken/x_test.go":     "pack age",
	})
	for _, c := range []struct{ of, want string }{
		{"a", ". b c/deep d"}, {"b", ". b c/deep"}, {"c/deep", ". c/deep"}, {".", "."}, {"d", "d f"}, {"e", "e"}, {"nowhere", ""},
	} {
		if got := strings.Join(m.Dependents(c.of), " "); got != c.want {
			t.Errorf("Dependents(%s) = %q, want %q", c.of, got, c.want)
		}
	}
	if got, want := strings.Join(m.TestedPackages(), " "), ". b broken c/deep d e f"; got != want {
		t.Errorf("TestedPackages = %q, want %q", got, want)
	}
}

// TestHiddenFiles: the file with the test, those of its package that need it and those
// that need these; not those of another package in the directory.
func TestHiddenFiles(t *testing.T) {
	m := of(t, map[string]string{
		"a/a_test.go":     "package a\nfunc TestA() { equal() }\nfunc equal() {}\n",
		"a/b_test.go":     "package a\nfunc TestB() { equal() }\nvar table = 1\n",
		"a/c_test.go":     "package a\nfunc TestC() { _ = table }\n",
		"a/d_test.go":     "package a\nfunc TestD() {}\n",
		"a/ext_test.go":   "package a_test\nfunc ExampleA() { equal() }\nfunc equal() {}\n",
		"b/a_test.go":     "package b\nfunc TestA() {}\n",
		"a/wrong_test.go": "package a\nfunc TestA(",
	})
	for _, c := range []struct {
		test gomodule.Test
		want string
	}{
		{gomodule.Test{Dir: "a", Function: "TestA"}, "a/a_test.go a/b_test.go a/c_test.go"},
		{gomodule.Test{Dir: "a", Function: "TestC"}, "a/c_test.go"},
		{gomodule.Test{Dir: "a", Function: "ExampleA"}, "a/ext_test.go"},
		{gomodule.Test{Dir: "b", Function: "TestA"}, "b/a_test.go"},
		{gomodule.Test{Dir: "b", Function: "TestZ"}, ""},
	} {
		if got := strings.Join(m.HiddenFiles([]gomodule.Test{c.test}), " "); got != c.want {
			t.Errorf("HiddenFiles(%v) = %q, want %q", c.test, got, c.want)
		}
	}
	if got, want := strings.Join(m.Functions(), " "), "ExampleA TestA TestB TestC TestD"; got != want {
		t.Errorf("Functions = %q, want %q", got, want)
	}
}

// TestRead leaves out what is no text, hidden, a link, or another module's.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n", "a.go": "package m\n", "z/é.txt": "é", "bin": "\xff\xfe",
		".git/config": "x", "z/.hidden/y": "x", "inner/go.mod": "module inner\n", "inner/deep/a.go": "package deep\n", ".dot": "kept",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	m, err := gomodule.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range m.Files {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{".dot", "a.go", "go.mod", "z/é.txt"}, paths); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"bin"}, m.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	changed := m.With("a.go", "package other\n")
	if text, _ := m.File("a.go"); text != "package m\n" || changed.Hash() == m.Hash() {
		t.Error("With changed the module itself, or nothing")
	}
}

func TestOfRefuses(t *testing.T) {
	for name, files := range map[string][]schemas.File{
		"no go.mod":   {{Path: "a/go.mod", Content: "module a\n"}},
		"no module":   {{Path: "go.mod", Content: "go 1.26\n"}},
		"no go.mod's": {{Path: "go.mod", Content: "module \"\n"}},
		"too large":   {{Path: "go.mod", Content: "module a\n"}, {Path: "big", Content: strings.Repeat("x", gomodule.MaxBytes)}},
	} {
		if _, err := gomodule.Of(t.Context(), files); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzModule holds for any Go file: no panic, and what is hidden is a test file.
func FuzzModule(f *testing.F) {
	f.Add("package a\nimport \"example.com/m\"\nfunc TestA() {}\n", "TestA")
	f.Add("package a\nimport (\n\"", "")
	f.Add("\xff", "TestB")
	f.Fuzz(func(t *testing.T, text, function string) {
		m := of(t, map[string]string{"a/a_test.go": text, "b_test.go": text, "a/a.go": text})
		m.Dependents(".", "a")
		for _, name := range m.HiddenFiles([]gomodule.Test{{Dir: "a", Function: function}}) {
			if !gomodule.IsTest(name) || strings.HasPrefix(name, "b") {
				t.Fatalf("hidden: %s", name)
			}
		}
	})
}
