package gomodule

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/modfile"

	"millrace/schemas"
)

// MaxBytes bounds a module with its dependencies: each task holds all of it, and a
// row of a task set has at most 16 MiB, tests and quotes included.
const MaxBytes = 8 << 20

// Module is a snapshot of one module.
type Module struct {
	// Path is the module's path of its go.mod.
	Path  string
	Files []schemas.File
	// Vendored is true when dependencies are below vendor.
	Vendored bool
	// LeftOut are the paths of files that are no text.
	LeftOut []string
}

// Read reads the module in a directory. Where go.mod names dependencies and there is
// no vendor directory, "go mod vendor" makes one elsewhere; that may use the network,
// the directory itself stays as it is.
func Read(ctx context.Context, dir string) (Module, error) {
	var files []schemas.File
	var leftOut []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != dir && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !utf8.Valid(text) {
			leftOut = append(leftOut, filepath.ToSlash(rel))
			return nil
		}
		files = append(files, schemas.File{Path: filepath.ToSlash(rel), Content: string(text)})
		return nil
	})
	if err != nil {
		return Module{}, fmt.Errorf("reading the module in %s: %w", dir, err)
	}
	m, err := Of(ctx, files)
	if err != nil {
		return m, fmt.Errorf("reading the module in %s: %w", dir, err)
	}
	m.LeftOut = append(m.LeftOut, leftOut...)
	return m, nil
}

// Of makes a module of files, in any order, with dependencies as in [Read]. Those of
// hidden directories and of modules inside it are left out. An error is a
// *[VendorError], or about the files.
func Of(ctx context.Context, files []schemas.File) (Module, error) {
	m := Module{Files: own(files)}
	slices.SortFunc(m.Files, func(a, b schemas.File) int { return strings.Compare(a.Path, b.Path) })
	mod, err := parse(m.Files)
	if err != nil {
		return m, err
	}
	m.Path = mod.Module.Mod.Path
	_, m.Vendored = m.File("vendor/modules.txt")
	if !m.Vendored && len(mod.Require) > 0 {
		if err := m.vendor(ctx); err != nil {
			return m, &VendorError{err}
		}
	}
	size := 0
	for _, f := range m.Files {
		size += len(f.Content)
	}
	if size > MaxBytes {
		return m, fmt.Errorf("it has %d MiB with its dependencies, more than the %d that fit into a task", size>>20, MaxBytes>>20)
	}
	return m, nil
}

// Path is the module path that files have in their go.mod.
func Path(files []schemas.File) (string, error) {
	mod, err := parse(files)
	if err != nil {
		return "", err
	}
	return mod.Module.Mod.Path, nil
}

func parse(files []schemas.File) (*modfile.File, error) {
	i := slices.IndexFunc(files, func(f schemas.File) bool { return f.Path == "go.mod" })
	if i < 0 {
		return nil, errors.New("there is no go.mod at the root")
	}
	mod, err := modfile.ParseLax("go.mod", []byte(files[i].Content), nil)
	if err != nil {
		return nil, err
	}
	if mod.Module == nil {
		return nil, errors.New("go.mod names no module")
	}
	return mod, nil
}

// own returns the files that are not in a hidden directory or another module.
func own(files []schemas.File) (out []schemas.File) {
	inner := map[string]bool{}
	for _, f := range files {
		if dir, ok := strings.CutSuffix(f.Path, "/go.mod"); ok && !strings.HasPrefix(f.Path, "vendor/") {
			inner[dir] = true
		}
	}
	for _, f := range files {
		foreign := false
		for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
			foreign = foreign || inner[dir] || strings.HasPrefix(path.Base(dir), ".")
		}
		if !foreign {
			out = append(out, f)
		}
	}
	return out
}

// File returns the content of a file.
func (m Module) File(name string) (string, bool) {
	i, ok := slices.BinarySearchFunc(m.Files, name, func(f schemas.File, name string) int { return cmp.Compare(f.Path, name) })
	if !ok {
		return "", false
	}
	return m.Files[i].Content, true
}

// With returns the module with other content of one of its files. The rest is shared.
func (m Module) With(name, content string) Module {
	m.Files = slices.Clone(m.Files)
	for i := range m.Files {
		if m.Files[i].Path == name {
			m.Files[i].Content = content
		}
	}
	return m
}

// Hash identifies the content, as hexadecimal SHA-256.
func (m Module) Hash() string {
	h := sha256.New()
	for _, f := range m.Files {
		fmt.Fprintf(h, "%d %d ", len(f.Path), len(f.Content))
		io.WriteString(h, f.Path)
		io.WriteString(h, f.Content)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// WriteTo writes the files below a directory, which is there.
func (m Module) WriteTo(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("writing a module: %w", err)
	}
	defer root.Close()
	for _, f := range m.Files {
		name := filepath.FromSlash(f.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("writing a module: %w", err)
		}
		if err := root.WriteFile(name, []byte(f.Content), 0o644); err != nil {
			return fmt.Errorf("writing a module: %w", err)
		}
	}
	return nil
}
