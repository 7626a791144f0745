package faults

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"millrace/pipelines/gomodule"
	"millrace/transforms/inject/procedural"
)

// loaded is a module with the types of its packages.
type loaded struct {
	set      *token.FileSet
	packages map[string]*packages.Package // by import path
	root     string                       // where they were loaded
}

// loadMode is what a modifier and the type checker need. Dependencies come as export
// data: the go command compiles them, and runs nothing.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// load type-checks the packages of a module that the patterns match. A package with
// errors is an error: no change to it could be told from one that does not compile.
func load(ctx context.Context, m gomodule.Module, patterns []string) (_ *loaded, err error) {
	temporary, err := os.MkdirTemp("", "millrace-faults-")
	if err != nil {
		return nil, fmt.Errorf("loading module %s: %w", m.Path, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	// Positions are compared with the paths that the go command prints.
	if temporary, err = filepath.EvalSymlinks(temporary); err != nil {
		return nil, fmt.Errorf("loading module %s: %w", m.Path, err)
	}
	dir := filepath.Join(temporary, "module") // the go command ignores a module in TMPDIR itself
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("loading module %s: %w", m.Path, err)
	}
	if err := m.WriteTo(dir); err != nil {
		return nil, err
	}
	l := &loaded{set: token.NewFileSet(), packages: map[string]*packages.Package{}, root: dir}
	flags := []string{}
	if m.Vendored {
		flags = append(flags, "-mod=vendor")
	}
	found, err := packages.Load(&packages.Config{
		Mode: loadMode, Context: ctx, Dir: dir, Fset: l.set, BuildFlags: flags,
		Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off", "CGO_ENABLED=0", "GOTOOLCHAIN=local"),
		ParseFile: func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
			return parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		},
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading module %s: %w", m.Path, err)
	}
	var problems []error
	for _, p := range found {
		for _, e := range p.Errors {
			problems = append(problems, fmt.Errorf("package %s: %s", p.PkgPath, strings.ReplaceAll(e.Error(), dir+"/", "")))
		}
		l.packages[p.PkgPath] = p
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("loading module %s: %w", m.Path, errors.Join(problems...))
	}
	return l, nil
}

// file is one file that may be changed.
type file struct {
	procedural.File
	pkg *packages.Package
}

// files returns the files of a package in the order of their paths, without those
// that a tool writes: who mends them mends the tool.
func (l *loaded) files(m gomodule.Module, importPath string) ([]file, error) {
	p := l.packages[importPath]
	if p == nil {
		return nil, fmt.Errorf("module %s has no package %s", m.Path, importPath)
	}
	var out []file
	for _, syntax := range p.Syntax {
		rel, err := filepath.Rel(l.root, l.set.PositionFor(syntax.Package, false).Filename)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", importPath, err)
		}
		name := filepath.ToSlash(rel)
		text, ok := m.File(name)
		if !ok || !gomodule.IsSource(name) || ast.IsGenerated(syntax) {
			continue
		}
		out = append(out, file{procedural.File{
			Name: name, Source: []byte(text), Set: l.set, Syntax: syntax, Info: p.TypesInfo, Package: p.Types,
		}, p})
	}
	slices.SortFunc(out, func(a, b file) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// check type-checks the package of a file with another text of that file. It finds
// all that the compiler finds save a few limits of size.
func (f file) check(text []byte) (err error) {
	changed, err := parser.ParseFile(f.Set, f.Name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	// Thousands of changes share the set. The error's text needs its file.
	defer func() {
		if err != nil {
			err = errors.New(err.Error())
		}
		f.Set.RemoveFile(f.Set.File(changed.FileStart))
	}()
	syntax := slices.Clone(f.pkg.Syntax)
	syntax[slices.Index(syntax, f.Syntax)] = changed
	imports := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range f.pkg.Types.Imports() {
		imports[p.Path()] = p
	}
	conf := types.Config{Importer: importer(imports), Sizes: f.pkg.TypesSizes}
	if f.pkg.Module != nil && f.pkg.Module.GoVersion != "" {
		conf.GoVersion = "go" + f.pkg.Module.GoVersion
	}
	_, err = conf.Check(f.pkg.PkgPath, f.Set, syntax, nil)
	return err
}

// importer knows the packages that the package imported before the change; a change
// in a function adds none.
type importer map[string]*types.Package

// Import implements types.Importer.
func (i importer) Import(path string) (*types.Package, error) {
	if p := i[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not imported", path)
}
