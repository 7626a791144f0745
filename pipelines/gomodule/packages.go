package gomodule

import (
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// IsTest reports whether a file belongs to the tests: *_test.go, and everything below
// a directory testdata. The scorer restores these files (see package score).
func IsTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "testdata/") || strings.Contains(name, "/testdata/")
}

// IsSource reports whether a file is Go source of the module itself, no test.
func IsSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !IsTest(name) && !strings.HasPrefix(name, "vendor/")
}

// graph is who imports whom among the module's packages, by directory ("." is the
// root). Build constraints are not looked at: a package may count as a dependent that
// is none on this system, never the other way round.
type graph struct {
	imports map[string]map[string]bool // by the package
	tests   map[string]map[string]bool // by its tests alone; present for all with tests
}

func (m Module) graph() graph {
	g := graph{map[string]map[string]bool{}, map[string]map[string]bool{}}
	for _, f := range m.Files {
		if !strings.HasSuffix(f.Path, ".go") || strings.HasPrefix(f.Path, "vendor/") || ignored(f.Path) {
			continue
		}
		dir, into := path.Dir(f.Path), g.imports
		if strings.HasSuffix(f.Path, "_test.go") {
			into = g.tests
		}
		if into[dir] == nil {
			into[dir] = map[string]bool{}
		}
		// A file that does not parse has the imports that were found before.
		file, _ := parser.ParseFile(token.NewFileSet(), f.Path, f.Content, parser.ImportsOnly)
		if file == nil {
			continue
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if name == m.Path {
				into[dir]["."] = true
			} else if rest, ok := strings.CutPrefix(name, m.Path+"/"); ok {
				into[dir][rest] = true
			}
		}
	}
	return g
}

// ignored reports whether the go command looks away: below testdata, and names that
// begin with "." or "_".
func ignored(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	})
}

// TestedPackages returns the directories that have tests, sorted.
func (m Module) TestedPackages() []string {
	return slices.Sorted(maps.Keys(m.graph().tests))
}

// Dependents returns the directories, sorted, whose tests a change to the packages in
// dirs can reach: those of the packages themselves, of all that import them, and of
// all whose tests do.
func (m Module) Dependents(dirs ...string) []string {
	g := m.graph()
	reached := map[string]bool{}
	for _, d := range dirs {
		reached[d] = true
	}
	touches := func(imports map[string]bool) bool {
		for name := range imports {
			if reached[name] {
				return true
			}
		}
		return false
	}
	for grown := true; grown; {
		grown = false
		for dir, imports := range g.imports {
			if !reached[dir] && touches(imports) {
				reached[dir], grown = true, true
			}
		}
	}
	var out []string
	for dir, imports := range g.tests {
		if reached[dir] || touches(imports) {
			out = append(out, dir)
		}
	}
	slices.Sort(out)
	return out
}

// ImportPath is the path of the package in a directory.
func (m Module) ImportPath(dir string) string {
	if dir == "." {
		return m.Path
	}
	return m.Path + "/" + dir
}

// Dir is the directory of a package of the module by its import path.
func (m Module) Dir(importPath string) string {
	if importPath == m.Path {
		return "."
	}
	return strings.TrimPrefix(importPath, m.Path+"/")
}
