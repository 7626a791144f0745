package checkpoint

import (
	"fmt"
	"io"
	"os"

	"millrace/kernels"
)

// chunk is the number of elements converted at a time: with its bytes it stays in
// the second-level cache.
const chunk = 1 << 16

// container is an open safetensors file.
type container struct {
	path   string
	file   *os.File
	header *header
}

func openContainer(path string) (*container, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open tensors: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open tensors: %w", err)
	}
	h, err := readHeader(f, info.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &container{path: path, file: f, header: h}, nil
}

func (c *container) read(e entry) (kernels.Tensor, error) {
	t, err := readTensor(c.file, c.header.data, e)
	if err != nil {
		return kernels.Tensor{}, fmt.Errorf("%s: read tensor %q: %w", c.path, e.name, err)
	}
	return t, nil
}

func (c *container) Close() error { return c.file.Close() }

// readTensor reads one tensor of a file whose data starts at base.
func readTensor(r io.ReaderAt, base int64, e entry) (kernels.Tensor, error) {
	size := e.dtype.size()
	t := kernels.Tensor{Name: e.name, Shape: e.shape, Data: make([]float32, (e.end-e.begin)/size)}
	buffer := make([]byte, min(chunk*size, e.end-e.begin))
	at := base + e.begin
	for rest := t.Data; len(rest) > 0; {
		n := min(chunk, len(rest))
		part := buffer[:int64(n)*size]
		if _, err := io.ReadFull(io.NewSectionReader(r, at, int64(len(part))), part); err != nil {
			return kernels.Tensor{}, err
		}
		e.dtype.decode(rest[:n], part)
		rest = rest[n:]
		at += int64(len(part))
	}
	return t, nil
}

// ReadTensors reads all tensors of a safetensors file, in the order of their
// data, and the file's metadata, which is nil where there is none. Elements become
// float32 without loss.
func ReadTensors(path string) ([]kernels.Tensor, map[string]string, error) {
	c, err := openContainer(path)
	if err != nil {
		return nil, nil, err
	}
	defer c.Close()
	tensors := make([]kernels.Tensor, len(c.header.entries))
	for i, e := range c.header.entries {
		if tensors[i], err = c.read(e); err != nil {
			return nil, nil, err
		}
	}
	return tensors, c.header.metadata, nil
}
