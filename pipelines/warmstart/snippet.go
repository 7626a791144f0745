package warmstart

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"unicode"

	"millrace/pipelines/mine"
	"millrace/schemas"
	"millrace/transforms/inject"
	"millrace/transforms/rollout/tools"
)

// The size of a snippet, in operators, bytes and lines: about that of a file of
// the default tasks, and no more than a view shows.
const (
	snippetOperators = 4
	snippetBytes     = 900
	snippetLines     = 30
)

// Snippets returns n functions from a tree of Go packages, such as the standard
// library's, each as a task of one file without tests. There is nothing to solve
// in them, but what is copied in drills on a thousand functions is not learnt by
// heart. Which functions depends on the tree and the seed alone; a tree with
// fewer than n that are neither too small nor too large is an error.
func Snippets(tree fs.FS, n int, seed uint64) ([]schemas.Task, error) {
	var all []schemas.Task
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "vendor"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil // a file that is not for this version of Go has nothing for us
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				if task, ok := snippet(fn, source, name); ok {
					all = append(all, task)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for functions to drill on: %w", err)
	}
	if len(all) < n {
		return nil, fmt.Errorf("looking for functions to drill on: found %d of %d", len(all), n)
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n], nil
}

// snippet makes a file of one function, in the shape of the default tasks.
func snippet(fn *ast.FuncDecl, source []byte, name string) (schemas.Task, bool) {
	if fn.Recv != nil || fn.Body == nil || reserved(fn.Name.Name) {
		return schemas.Task{}, false
	}
	offset := int(fn.Pos()) - 1 // the only file of its set begins at 1
	text := source[offset : int(fn.End())-1]
	title := strings.ToLower(fn.Name.Name)
	content := "package " + title + "\n\n"
	if doc := strings.TrimSpace(fn.Doc.Text()); doc != "" {
		first, _, _ := strings.Cut(doc, "\n")
		content += "// " + first + "\n"
	}
	content += string(text) + "\n"
	lines := strings.SplitAfter(strings.TrimSuffix(content, "\n"), "\n")
	foreign := strings.ContainsFunc(content, func(r rune) bool { return r > unicode.MaxASCII })
	if len(content) > snippetBytes || len(lines) > snippetLines || foreign || len(candidates(tools.Number(lines, 1, len(lines)), []inject.Kind{inject.FlipOperators})) < snippetOperators {
		return schemas.Task{}, false
	}
	return schemas.Task{
		ID: path.Dir(name) + "/" + fn.Name.Name, Repo: title,
		Statement: fn.Name.Name + " is broken.",
		Files:     []schemas.File{{Path: mine.SourceFile, Content: content}, {Path: mine.VisibleTest, Content: "package " + title + "\n"}},
	}, true
}
