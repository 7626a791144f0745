package mine

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
)

// corpusFiles holds the corpus as source text. The packages are also ordinary
// packages of this module, so that the tests of a wrong one fail in the build.
//
//go:embed corpus
var corpusFiles embed.FS

// Program is one package of the corpus: a function that works, and its tests.
type Program struct {
	// Name is the package's name.
	Name string
	// Function is the name of its exported function.
	Function string
	// Source is the text of the package, Visible that of the test which the agent
	// has, and Hidden that of the tests which it has not.
	Source, Visible, Hidden string
}

// Corpus returns the programs, sorted by name.
func Corpus() ([]Program, error) {
	dirs, err := corpusFiles.ReadDir("corpus")
	if err != nil {
		return nil, fmt.Errorf("listing the corpus: %w", err)
	}
	programs := make([]Program, 0, len(dirs))
	for _, d := range dirs {
		p := Program{Name: d.Name()}
		for suffix, text := range map[string]*string{".go": &p.Source, "_test.go": &p.Visible, "_hidden_test.go": &p.Hidden} {
			data, err := corpusFiles.ReadFile(path.Join("corpus", p.Name, p.Name+suffix))
			if err != nil {
				return nil, fmt.Errorf("reading program %s of the corpus: %w", p.Name, err)
			}
			*text = string(data)
		}
		if p.Function, err = exportedFunction(p.Name+".go", p.Source); err != nil {
			return nil, fmt.Errorf("reading program %s of the corpus: %w", p.Name, err)
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// exportedFunction returns the name of the only exported function of a file.
func exportedFunction(name, source string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	found := ""
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() {
			if found != "" {
				return "", fmt.Errorf("%s exports %s and %s; want one function", name, found, fn.Name.Name)
			}
			found = fn.Name.Name
		}
	}
	if found == "" {
		return "", fmt.Errorf("%s exports no function", name)
	}
	return found, nil
}

// tests returns the names of the test functions of the program's test files,
// in the order of the text, hidden ones first, as "go test" runs them.
func (p Program) tests() ([]string, error) {
	var names []string
	for _, source := range []string{p.Hidden, p.Visible} {
		file, err := parser.ParseFile(token.NewFileSet(), p.Name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parsing the tests of program %s: %w", p.Name, err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names, nil
}
