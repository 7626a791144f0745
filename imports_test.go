package main_test

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers is the layout from the bottom: a package imports only what stands
// before its own folder.
var layers = []string{"schemas", "kernels", "transforms", "pipelines", "runners"}

// leaves are the transforms that other transforms may import, and by whom. They
// are plain Go without Beam.
var leaves = map[string][]string{
	"transforms/sandbox":       {"transforms/rollout", "transforms/rollout/tools", "transforms/score", "transforms/swerl"},
	"transforms/rollout/tools": {"transforms/rollout"},
	"transforms/testlog":       {"transforms/score"},
	"transforms/difflib":       {"transforms/score"},
	"transforms/swerl":         {"transforms/rollout", "transforms/score"},
	"transforms/environment":   {"transforms/rollout", "transforms/score"},
}

// source is one Go file of the module.
type source struct {
	path string // slash-separated, relative to the module
	dir  string
	text []byte
	file *ast.File
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

var positions = token.NewFileSet() // of all files

// sources parses the Go files of the layers and of the root. The corpus is data:
// what agents repair.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	read := func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(positions, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		name = filepath.ToSlash(name)
		out = append(out, source{name, path.Dir(name), text, file})
	}
	root, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range root {
		read(name)
	}
	for _, layer := range layers {
		err := filepath.WalkDir(layer, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || name == filepath.Join("pipelines", "mine", "corpus")):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(name, ".go"):
				read(name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestImportOrder: schemas < kernels < transforms < pipelines < runners < main,
// and no stage knows another.
func TestImportOrder(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() {
			continue // a test may stand a stage between others
		}
		from := rank(s.dir)
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, ours := strings.CutPrefix(name, "millrace/")
			if !ours {
				continue
			}
			switch {
			case rank(to) > from:
				t.Errorf("%s imports %s, which stands above it", s.path, to)
			case from == slices.Index(layers, "transforms") && stage(s.dir) != stage(to) && rank(to) == from && !slices.Contains(leaves[to], s.dir):
				t.Errorf("%s imports %s: a transform imports no other", s.path, to)
			case to == "transforms/rollout/tools" && from == rank(to) && !slices.Contains(leaves[to], s.dir):
				t.Errorf("%s imports %s", s.path, to)
			}
		}
	}
}

// rank is a folder's place in the layout; the root, package main, stands above
// all.
func rank(dir string) int {
	top, _, _ := strings.Cut(dir, "/")
	if i := slices.Index(layers, top); i >= 0 {
		return i
	}
	return len(layers)
}

// stage is the folder of a transform: "rollout" of transforms/rollout/tools.
func stage(dir string) string {
	return strings.SplitN(dir+"//", "/", 3)[1]
}

// TestPackageNames: a package is named after what it holds.
func TestPackageNames(t *testing.T) {
	for _, s := range sources(t) {
		for _, name := range []string{strings.TrimSuffix(s.file.Name.Name, "_test"), strings.TrimSuffix(path.Base(s.path), ".go")} {
			switch name {
			case "util", "utils", "common", "helper", "helpers", "manager", "misc", "shared":
				t.Errorf("%s: %q says nothing", s.path, name)
			}
		}
	}
}

// TestFileSizes: 600 lines at most; more is a type that absorbed its callers'
// decisions.
func TestFileSizes(t *testing.T) {
	for _, s := range sources(t) {
		if n := bytes.Count(s.text, []byte("\n")); n > 600 {
			t.Errorf("%s has %d lines, more than 600", s.path, n)
		}
	}
}

// sleepers may call time.Sleep outside of tests, with the reason.
var sleepers = map[string]string{
	"transforms/sandbox/docker/shell.go": "the same, for a container's stream, which ends with its container",
	"transforms/sandbox/output.go":       "a pause of fixed length slows a command that floods its output; the command's deadline ends the loop",
}

// TestForbiddenCalls: nothing in a stage or pipeline sleeps without listening to
// its context; a timer in a select does both.
func TestForbiddenCalls(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || (rank(s.dir) != rank("transforms") && rank(s.dir) != rank("pipelines")) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Sleep" || sleepers[s.path] != "" {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
				t.Errorf("%s calls time.Sleep: select on a timer and the context", s.path)
			}
			return true
		})
	}
}

// localPath is a path of one machine's home or of a temporary directory.
var localPath = regexp.MustCompile("/(?:home|Users)/[a-z]|/tmp/[a-z]")

// TestNoLocalPaths: nothing outside of tests depends on one machine. The /tmp
// and home directory inside a sandbox are the sandbox's own.
func TestNoLocalPaths(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || strings.HasPrefix(s.path, "transforms/sandbox/") {
			continue
		}
		if found := localPath.Find(s.text); found != nil {
			t.Errorf("%s holds %q", s.path, found)
		}
	}
}

// undocumented are exported identifiers without a comment, with the reason:
// methods that a well-known interface defines.
var undocumented = map[string]string{
	"Error": "error", "Unwrap": "errors.Unwrap", "String": "fmt.Stringer",
	"ProcessElement": "Beam", "StartBundle": "Beam", "FinishBundle": "Beam", "Setup": "Beam", "Teardown": "Beam",
	"OnTimer": "Beam", "CreateInitialRestriction": "Beam", "SplitRestriction": "Beam", "RestrictionSize": "Beam",
	"CreateTracker": "Beam", "CreateWatermarkEstimator": "Beam", "InitialWatermarkEstimatorState": "Beam",
	"WatermarkEstimatorState": "Beam", "TruncateRestriction": "Beam", "CurrentWatermark": "Beam",
	"TryClaim": "Beam", "GetError": "Beam", "TrySplit": "Beam", "GetProgress": "Beam", "IsDone": "Beam",
	"GetRestriction": "Beam", "IsBounded": "Beam",
	"Len": "sort.Interface", "Less": "sort.Interface", "Swap": "sort.Interface",
}

// TestDocComments: every exported identifier of a package says what it is. The
// constants and variables of a group share its comment, and a method may leave
// it to its type when the type is not exported.
func TestDocComments(t *testing.T) {
	packages := map[string][]*ast.File{}
	for _, s := range sources(t) {
		if !s.test() && s.file.Name.Name != "main" {
			packages[s.dir] = append(packages[s.dir], s.file)
		}
	}
	for dir, files := range packages {
		p, err := doc.NewFromFiles(positions, files, "millrace/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		check := func(name, text string) {
			last := name[strings.LastIndex(name, ".")+1:]
			if text == "" && undocumented[last] == "" {
				t.Errorf("%s: %s has no doc comment", dir, name)
			}
		}
		check("package "+p.Name, p.Doc)
		functions := p.Funcs
		values := append(slices.Clone(p.Consts), p.Vars...)
		for _, typ := range p.Types {
			check(typ.Name, typ.Doc)
			functions = append(functions, typ.Funcs...)
			functions = append(functions, typ.Methods...)
			values = append(append(values, typ.Consts...), typ.Vars...)
		}
		for _, f := range functions {
			check(strings.TrimPrefix(f.Recv+"."+f.Name, "."), f.Doc)
		}
		for _, v := range values {
			for _, spec := range v.Decl.Specs {
				value := spec.(*ast.ValueSpec)
				check(strings.Join(v.Names, ","), v.Doc+value.Doc.Text()+value.Comment.Text())
			}
		}
	}
}
