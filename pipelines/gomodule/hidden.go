package gomodule

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// Test is a test of the module: the directory of its package and the name of its
// function.
type Test struct{ Dir, Function string }

// testFile is what is asked of a *_test.go file.
type testFile struct {
	path, pkg string
	declares  map[string]bool // functions and other names of the package level
	mentions  map[string]bool // all identifiers
}

func (m Module) testFiles() []testFile {
	var out []testFile
	for _, f := range m.Files {
		if !strings.HasSuffix(f.Path, "_test.go") || strings.HasPrefix(f.Path, "vendor/") || ignored(f.Path) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.SkipObjectResolution)
		if err != nil {
			continue // no test of it runs
		}
		t := testFile{path: f.Path, pkg: file.Name.Name, declares: map[string]bool{}, mentions: map[string]bool{}}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					t.declares[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							t.declares[name.Name] = true
						}
					case *ast.TypeSpec:
						t.declares[spec.Name.Name] = true
					}
				}
			}
		}
		delete(t.declares, "_")
		delete(t.declares, "init")
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				t.mentions[id.Name] = true
			}
			return true
		})
		out = append(out, t)
	}
	return out
}

// HiddenFiles returns the paths, sorted, of the test files that declare one of the
// tests, and of those that would not compile without them.
func (m Module) HiddenFiles(tests []Test) []string {
	files := m.testFiles()
	hidden := map[string]bool{}
	for _, f := range files {
		for _, t := range tests {
			if path.Dir(f.path) == t.Dir && f.declares[t.Function] {
				hidden[f.path] = true
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for _, f := range files {
			if !hidden[f.path] && slices.ContainsFunc(files, func(g testFile) bool { return hidden[g.path] && f.needs(g) }) {
				hidden[f.path], grown = true, true
			}
		}
	}
	var out []string
	for _, f := range files {
		if hidden[f.path] {
			out = append(out, f.path)
		}
	}
	return out
}

// needs reports whether f uses a name that g, of the same package, declares. A local
// variable of that name counts too: then one file more is hidden than must be.
func (f testFile) needs(g testFile) bool {
	if path.Dir(f.path) != path.Dir(g.path) || f.pkg != g.pkg {
		return false
	}
	for name := range g.declares {
		if f.mentions[name] {
			return true
		}
	}
	return false
}

// Functions returns the names that the test files declare at package level, sorted
// and without repetition: what a text must not say that is not to name a test.
func (m Module) Functions() []string {
	var out []string
	for _, f := range m.testFiles() {
		for name := range f.declares {
			if IsTestName(name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsTestName reports whether the testing package runs a function of that name.
func IsTestName(name string) bool {
	for _, prefix := range []string{"Test", "Example", "Fuzz", "Benchmark"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
			return true
		}
	}
	return false
}
