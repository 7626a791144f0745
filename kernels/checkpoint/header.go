package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// The safetensors format (github.com/huggingface/safetensors, README):
//
//	8 bytes   N, little-endian, at most 100 MB
//	N bytes   JSON object, spaces after it allowed:
//	            "__metadata__": {string: string}, may be absent
//	            name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}
//	the rest  the data; offsets are relative to its start; the tensors lie in it
//	          without holes or overlap, little-endian, row-major
//
// Files written here pad the header with spaces until the data starts at a
// multiple of 64 bytes, so that it can be mapped.
const (
	maxHeaderBytes = 100_000_000
	alignment      = 64
	metadataKey    = "__metadata__"
	// maxDimensions is far above what models have.
	maxDimensions = 8
)

// entry is one tensor of a header.
type entry struct {
	name       string
	dtype      DType
	shape      []int
	begin, end int64 // in the data
}

// header is a checked header.
type header struct {
	entries  []entry // by ascending begin; they cover the data
	metadata map[string]string
	data     int64 // where the data starts in the file
}

// readHeader reads and checks the header of a file of the given size.
func readHeader(r io.ReaderAt, size int64) (*header, error) {
	var prefix [8]byte
	if size < int64(len(prefix)) {
		return nil, fmt.Errorf("%d bytes are too few for a safetensors file", size)
	}
	if _, err := r.ReadAt(prefix[:], 0); err != nil {
		return nil, fmt.Errorf("read header length: %w", err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > maxHeaderBytes || int64(length) > size-8 {
		return nil, fmt.Errorf("header length %d is more than the %d bytes that follow or than %d", length, size-8, maxHeaderBytes)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(r, 8, int64(length)), text); err != nil {
		return nil, fmt.Errorf("read header: %w", err)
	}
	h := &header{data: 8 + int64(length)}
	if err := h.parse(text); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if err := h.checkCover(size - h.data); err != nil {
		return nil, err
	}
	return h, nil
}

// parse reads the JSON. Names are taken one by one, since a decoder of maps would
// keep the last of two equal names in silence.
func (h *header) parse(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		return errors.New("does not start with {")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	seen := make(map[string]struct{})
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name := token.(string) // the decoder yields nothing else before a colon
		if _, twice := seen[name]; twice {
			return fmt.Errorf("%q appears twice", name)
		}
		seen[name] = struct{}{}
		if name == metadataKey {
			if err := d.Decode(&h.metadata); err != nil {
				return fmt.Errorf("%s: %w", metadataKey, err)
			}
			continue
		}
		e, err := parseEntry(d, name)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		h.entries = append(h.entries, e)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if rest := bytes.TrimLeft(text[d.InputOffset():], " "); len(rest) > 0 {
		return fmt.Errorf("%d bytes after the object that are not padding", len(rest))
	}
	return nil
}

func parseEntry(d *json.Decoder, name string) (entry, error) {
	var fields struct {
		DType   string   `json:"dtype"`
		Shape   []int64  `json:"shape"`
		Offsets []uint64 `json:"data_offsets"`
	}
	if err := d.Decode(&fields); err != nil {
		return entry{}, err
	}
	if fields.Shape == nil || len(fields.Offsets) != 2 {
		return entry{}, errors.New("want dtype, shape and two data_offsets")
	}
	e := entry{name: name, dtype: DType(fields.DType)}
	if e.dtype.size() == 0 {
		return entry{}, fmt.Errorf("dtype %q is not supported, want F32, BF16 or F16", fields.DType)
	}
	if len(fields.Shape) > maxDimensions {
		return entry{}, fmt.Errorf("%d dimensions, want at most %d", len(fields.Shape), maxDimensions)
	}
	bytes := e.dtype.size()
	e.shape = make([]int, len(fields.Shape))
	for i, n := range fields.Shape {
		if n < 0 || n > 0 && bytes > math.MaxInt64/n {
			return entry{}, fmt.Errorf("shape %v is out of range", fields.Shape)
		}
		bytes *= n
		e.shape[i] = int(n)
	}
	if fields.Offsets[1] > math.MaxInt64 || fields.Offsets[0] > fields.Offsets[1] || int64(fields.Offsets[1]-fields.Offsets[0]) != bytes {
		return entry{}, fmt.Errorf("data_offsets %v do not hold the %d bytes of shape %v", fields.Offsets, bytes, fields.Shape)
	}
	e.begin, e.end = int64(fields.Offsets[0]), int64(fields.Offsets[1])
	return e, nil
}

// checkCover sorts the entries by place and checks that they cover the data
// without holes or overlap.
func (h *header) checkCover(size int64) error {
	slices.SortFunc(h.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	end := int64(0)
	for _, e := range h.entries {
		if e.begin != end {
			return fmt.Errorf("tensor %q starts at %d of the data, want %d: a hole or an overlap", e.name, e.begin, end)
		}
		end = e.end
	}
	if end != size {
		return fmt.Errorf("the tensors end at %d of the data, which has %d bytes: the file is cut off or has bytes of no tensor", end, size)
	}
	return nil
}

// marshal returns the bytes in front of the data: length, JSON and padding.
// Tensors stand in the order of the data; equal headers give equal bytes.
func (h *header) marshal() ([]byte, error) {
	text := []byte{'{'}
	member := func(name string, value any) error {
		if len(text) > 1 {
			text = append(text, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		v, err := json.Marshal(value)
		if err != nil {
			return err
		}
		text = append(append(append(text, key...), ':'), v...)
		return nil
	}
	if len(h.metadata) > 0 {
		if err := member(metadataKey, h.metadata); err != nil {
			return nil, err
		}
	}
	for _, e := range h.entries {
		shape := e.shape
		if shape == nil {
			shape = []int{} // a scalar, not null
		}
		if err := member(e.name, struct {
			DType   DType    `json:"dtype"`
			Shape   []int    `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}{e.dtype, shape, [2]int64{e.begin, e.end}}); err != nil {
			return nil, err
		}
	}
	text = append(text, '}')
	for (8+len(text))%alignment != 0 {
		text = append(text, ' ')
	}
	if len(text) > maxHeaderBytes {
		return nil, fmt.Errorf("header of %d bytes, at most %d are allowed", len(text), maxHeaderBytes)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), nil
}
