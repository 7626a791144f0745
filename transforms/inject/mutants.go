package inject

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
)

// Mutant is a source file with one fault in it.
type Mutant struct {
	Fault
	Source []byte
}

// Mutants returns, in the order of Faults, the faults of src whose result
// compiles and is neither src nor an earlier mutant.
//
// Src has to be a whole package that compiles; a nil importer allows no
// imports. Name is used in error messages.
func Mutants(name string, src []byte, importer types.Importer) ([]Mutant, error) {
	if err := compile(name, src, importer); err != nil {
		return nil, fmt.Errorf("checking the source before any fault: %w", err)
	}
	faults, err := Faults(name, src)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{string(src): true}
	var out []Mutant
	for _, f := range faults {
		text, err := f.Apply(src)
		if err != nil {
			return nil, err
		}
		if seen[string(text)] {
			continue
		}
		seen[string(text)] = true
		if compile(name, text, importer) == nil {
			out = append(out, Mutant{Fault: f, Source: text})
		}
	}
	return out, nil
}

// compile reports whether src passes the parser and the type checker, which
// find all that the compiler finds save a few limits of size.
func compile(name string, src []byte, importer types.Importer) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parsing: %w", err)
	}
	conf := types.Config{Importer: importer}
	if _, err := conf.Check(file.Name.Name, fset, []*ast.File{file}, nil); err != nil {
		return fmt.Errorf("type checking: %w", err)
	}
	return nil
}
