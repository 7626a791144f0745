package gomodule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"millrace/schemas"
)

// vendorTimeout bounds "go mod vendor", which may download.
const vendorTimeout = 5 * time.Minute

// VendorError says that the dependencies of a module could not be had: there may be no
// network, or they may be gone.
type VendorError struct{ Err error }

func (e *VendorError) Error() string { return e.Err.Error() }

func (e *VendorError) Unwrap() error { return e.Err }

// vendor adds the dependencies. The go command sees a copy of the module: it may
// download, but it runs no code of it. Files that are no text are left out; a
// dependency that embeds one does not build, and its tests are none.
func (m *Module) vendor(ctx context.Context) error {
	temporary, err := os.MkdirTemp("", "millrace-vendor-")
	if err != nil {
		return fmt.Errorf("vendoring: %w", err)
	}
	defer os.RemoveAll(temporary)
	dir := filepath.Join(temporary, "module") // the go command ignores a module in TMPDIR itself
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("vendoring: %w", err)
	}
	if err := m.WriteTo(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, vendorTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "mod", "vendor")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("vendoring: go mod vendor: %w: %s", err, bytes.TrimSpace(out))
	}
	vendored := filepath.Join(dir, "vendor")
	err = filepath.WalkDir(vendored, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if !utf8.Valid(text) {
			m.LeftOut = append(m.LeftOut, name)
			return nil
		}
		m.Files = append(m.Files, schemas.File{Path: name, Content: string(text)})
		m.Vendored = true
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // all that is required is unused
		return fmt.Errorf("vendoring: %w", err)
	}
	slices.SortFunc(m.Files, func(a, b schemas.File) int { return strings.Compare(a.Path, b.Path) })
	return nil
}
