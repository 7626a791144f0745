package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/google/renameio/v2"

	"millrace/kernels"
)

// WriteTensors writes a safetensors file with the tensors in the given order and
// returns the SHA-256 of the file in hexadecimal. F32 keeps every bit; BF16 rounds
// to nearest even. The data is converted on its way to the file, never copied as a
// whole. The tensors must not change meanwhile. After an error path is what it was
// before.
func WriteTensors(path string, tensors []kernels.Tensor, dtype DType, metadata map[string]string) (digest string, err error) {
	h, err := newHeader(tensors, dtype, metadata)
	if err != nil {
		return "", fmt.Errorf("write tensors to %s: %w", path, err)
	}
	sum := sha256.New()
	err = writeFile(path, func(w io.Writer) error {
		return writeTensors(io.MultiWriter(w, sum), h, tensors, dtype)
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// newHeader places the tensors one after another.
func newHeader(tensors []kernels.Tensor, dtype DType, metadata map[string]string) (*header, error) {
	if dtype != F32 && dtype != BF16 {
		return nil, fmt.Errorf("dtype %q cannot be written, want F32 or BF16", dtype)
	}
	h := &header{metadata: metadata}
	seen := make(map[string]struct{}, len(tensors))
	end := int64(0)
	for _, t := range tensors {
		if _, twice := seen[t.Name]; twice || t.Name == metadataKey || !utf8.ValidString(t.Name) {
			return nil, fmt.Errorf("tensor name %q appears twice, is reserved or is not UTF-8", t.Name)
		}
		seen[t.Name] = struct{}{}
		elements := 1
		for _, n := range t.Shape {
			elements *= n
		}
		if elements != len(t.Data) || len(t.Shape) > maxDimensions || slices.ContainsFunc(t.Shape, func(n int) bool { return n < 0 }) {
			return nil, fmt.Errorf("tensor %q has %d elements, but shape %v", t.Name, len(t.Data), t.Shape)
		}
		begin := end
		end += int64(len(t.Data)) * dtype.size()
		h.entries = append(h.entries, entry{name: t.Name, dtype: dtype, shape: t.Shape, begin: begin, end: end})
	}
	return h, nil
}

func writeTensors(w io.Writer, h *header, tensors []kernels.Tensor, dtype DType) error {
	prefix, err := h.marshal()
	if err != nil {
		return err
	}
	if _, err := w.Write(prefix); err != nil {
		return err
	}
	buffer := make([]byte, chunk*dtype.size())
	for _, t := range tensors {
		for rest := t.Data; len(rest) > 0; {
			n := min(chunk, len(rest))
			part := buffer[:int64(n)*dtype.size()]
			dtype.encode(part, rest[:n])
			if _, err := w.Write(part); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return nil
}

// writeFile replaces path by what write writes, whole or not at all, and makes
// it last: file and directory are synced.
func writeFile(path string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(dir), renameio.WithPermissions(0o644))
	if err != nil {
		return fmt.Errorf("create a temporary file for %s: %w", path, err)
	}
	defer func() {
		// Nothing to remove once the file has its name.
		if cleanup := f.Cleanup(); err != nil {
			err = errors.Join(err, cleanup)
		}
	}()
	if err := write(f); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory of %s: %w", path, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory of %s: %w", path, err)
	}
	return nil
}
