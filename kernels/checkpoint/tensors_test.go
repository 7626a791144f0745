package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/kernels"
)

// golden is what testdata/golden.py says of golden.safetensors.
type golden struct {
	Tensors map[string]struct {
		Shape []int    `json:"shape"`
		Bits  []uint32 `json:"bits"`
	} `json:"tensors"`
	Rounding [][2]uint32 `json:"rounding"`
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestReadGolden(t *testing.T) {
	want := readGolden(t)
	tensors, metadata, err := ReadTensors("testdata/golden.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if metadata["note"] != "<ü>" || metadata["format"] != "np" {
		t.Errorf("metadata %v", metadata)
	}
	if len(tensors) != len(want.Tensors) {
		t.Errorf("%d tensors, want %d", len(tensors), len(want.Tensors))
	}
	for _, got := range tensors {
		w := want.Tensors[got.Name]
		bits := make([]uint32, len(got.Data))
		for i, v := range got.Data {
			bits[i] = math.Float32bits(v)
		}
		if !slices.Equal(got.Shape, w.Shape) || !slices.Equal(bits, w.Bits) {
			t.Errorf("%q: shape %v, bits %x, want %v, %x", got.Name, got.Shape, bits, w.Shape, w.Bits)
		}
	}
}

func TestBF16Rounding(t *testing.T) {
	rounding := readGolden(t).Rounding
	if len(rounding) < 100 {
		t.Fatalf("%d golden roundings, want at least 100", len(rounding))
	}
	for _, pair := range rounding {
		if got := toBF16(math.Float32frombits(pair[0])); uint32(got) != pair[1] {
			t.Errorf("%08x rounds to %04x, want %04x", pair[0], got, pair[1])
		}
	}
	for _, nan := range []uint32{0x7F800001, 0x7FC00000, 0xFFFFFFFF} {
		if got := math.Float32frombits(uint32(toBF16(math.Float32frombits(nan))) << 16); got == got {
			t.Errorf("NaN %08x became %v", nan, got)
		}
	}
}

// TestF16 compares all 65,536 values with their definition in float64.
func TestF16(t *testing.T) {
	for h := range 1 << 16 {
		sign, exponent, fraction := 1-2*float64(h>>15), h>>10&0x1F, float64(h&0x3FF)
		want := math.Ldexp(1+fraction/1024, exponent-15)
		switch {
		case exponent == 0:
			want = math.Ldexp(fraction/1024, -14)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		want = math.Copysign(want, sign)
		got := fromF16(uint16(h))
		if float64(got) != want && !(want != want && got != got) || math.Signbit(float64(got)) != (h>>15 == 1) {
			t.Errorf("%04x is %v, want %v", h, got, want)
		}
	}
}

func sample() []kernels.Tensor {
	long := make([]float32, chunk+3) // more than one buffer
	for i := range long {
		long[i] = float32(i) * -0.25
	}
	return []kernels.Tensor{
		{Name: "b <&>", Shape: []int{2, 1}, Data: []float32{1, float32(math.Inf(-1))}},
		{Name: "a", Shape: []int{len(long)}, Data: long},
		{Name: "scalar", Data: []float32{3}},
		{Name: "none", Shape: []int{0, 3}, Data: []float32{}},
	}
}

func TestWriteRead(t *testing.T) {
	for _, dtype := range []DType{F32, BF16} {
		path := filepath.Join(t.TempDir(), "x.safetensors")
		want := sample()
		digest, err := WriteTensors(path, want, dtype, map[string]string{"step": "12", "a": "b"})
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); digest != hex.EncodeToString(sum[:]) {
			t.Errorf("digest %s is not that of the file", digest)
		}
		if start := 8 + binary.LittleEndian.Uint64(data); start%alignment != 0 {
			t.Errorf("the data starts at %d, want a multiple of %d", start, alignment)
		}
		got, metadata, err := ReadTensors(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(metadata) != 2 || metadata["step"] != "12" {
			t.Errorf("metadata %v", metadata)
		}
		if len(got) != len(want) {
			t.Fatalf("%d tensors, want %d", len(got), len(want))
		}
		for i := range want {
			for j, v := range want[i].Data {
				if dtype == BF16 {
					want[i].Data[j] = math.Float32frombits(uint32(toBF16(v)) << 16)
				}
			}
			if got[i].Name != want[i].Name || !slices.Equal(got[i].Shape, want[i].Shape) || !equalBits(got[i].Data, want[i].Data) {
				t.Errorf("%s: tensor %q of shape %v differs from %q of shape %v", dtype, got[i].Name, got[i].Shape, want[i].Name, want[i].Shape)
			}
		}
		again, err := WriteTensors(path, sample(), dtype, map[string]string{"a": "b", "step": "12"})
		if err != nil || again != digest {
			t.Errorf("writing the same again gave %s, %v, want %s", again, err, digest)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	one := []float32{1}
	for _, c := range []struct {
		tensors []kernels.Tensor
		dtype   DType
		want    string
	}{
		{[]kernels.Tensor{{Name: "a", Shape: []int{2}, Data: one}}, F32, `tensor "a" has 1 elements, but shape [2]`},
		{[]kernels.Tensor{{Name: "a", Shape: []int{-1, -1}, Data: one}}, F32, `tensor "a" has 1 elements, but shape [-1 -1]`},
		{[]kernels.Tensor{{Name: "a", Data: one}, {Name: "a", Data: one}}, F32, `tensor name "a" appears twice`},
		{[]kernels.Tensor{{Name: metadataKey, Data: one}}, F32, "is reserved"},
		{[]kernels.Tensor{{Name: "\xff", Data: one}}, F32, "not UTF-8"},
		{nil, F16, `dtype "F16" cannot be written`},
	} {
		path := filepath.Join(t.TempDir(), "x.safetensors")
		_, err := WriteTensors(path, c.tensors, c.dtype, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want %q and the path", err, c.want)
		}
	}
}

// TestFailedWriteKeepsOld: what was at the path stays, and nothing else is left in
// the directory.
func TestFailedWriteKeepsOld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	err := writeFile(path, func(w io.Writer) error {
		if _, err := w.Write([]byte("new")); err != nil {
			return err
		}
		return full
	})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want %v and the path", err, full)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
		t.Errorf("the file holds %q, %v", data, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

// raw is a file with the given header text and n bytes of data.
func raw(header string, n int) []byte {
	data := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(data, header...), make([]byte, n)...)
}

func TestReadRefuses(t *testing.T) {
	tensor := func(name, dtype, shape, offsets string) string {
		return fmt.Sprintf(`%q:{"dtype":%q,"shape":%s,"data_offsets":%s}`, name, dtype, shape, offsets)
	}
	a := tensor("a", "F32", "[2]", "[0,8]")
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "0 bytes are too few"},
		{"huge header", binary.LittleEndian.AppendUint64(nil, 1<<63), "header length 9223372036854775808 is more than"},
		{"header past the end", append(binary.LittleEndian.AppendUint64(nil, 3), '{'), "header length 3 is more than"},
		{"no object", raw(`[]`, 0), "does not start with {"},
		{"leading space", raw(` {}`, 0), "does not start with {"},
		{"cut off", raw(`{"a":`, 0), "header:"},
		{"bytes after", raw(`{}x`, 0), "1 bytes after the object"},
		{"same name", raw(`{`+a+`,`+a+`}`, 8), `"a" appears twice`},
		{"metadata of numbers", raw(`{"__metadata__":{"a":1}}`, 0), "__metadata__"},
		{"other type", raw(`{`+tensor("a", "I64", "[1]", "[0,8]")+`}`, 8), `tensor "a": dtype "I64" is not supported`},
		{"negative shape", raw(`{`+tensor("a", "F32", "[-2,-1]", "[0,8]")+`}`, 8), `tensor "a": shape [-2 -1] is out of range`},
		{"shape overflows", raw(`{`+tensor("a", "F32", "[4294967296,4294967296]", "[0,0]")+`}`, 0), `is out of range`},
		{"no shape", raw(`{"a":{"dtype":"F32","data_offsets":[0,4]}}`, 4), `tensor "a": want dtype, shape and two data_offsets`},
		{"one offset", raw(`{`+tensor("a", "F32", "[2]", "[0]")+`}`, 8), `tensor "a": want dtype`},
		{"offsets reversed", raw(`{`+tensor("a", "F32", "[2]", "[8,0]")+`}`, 8), `tensor "a": data_offsets [8 0] do not hold`},
		{"offsets too long", raw(`{`+tensor("a", "F32", "[2]", "[0,12]")+`}`, 12), `do not hold the 8 bytes`},
		{"negative offset", raw(`{`+tensor("a", "F32", "[2]", "[-8,0]")+`}`, 8), `tensor "a"`},
		{"nine dimensions", raw(`{`+tensor("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]")+`}`, 4), `9 dimensions`},
		{"hole", raw(`{`+a+`,`+tensor("b", "F32", "[1]", "[12,16]")+`}`, 16), `tensor "b" starts at 12 of the data, want 8`},
		{"overlap", raw(`{`+a+`,`+tensor("b", "F32", "[1]", "[4,8]")+`}`, 8), `tensor "b" starts at 4 of the data, want 8`},
		{"data cut off", raw(`{`+a+`}`, 7), "the tensors end at 8 of the data, which has 7 bytes"},
		{"data too long", raw(`{`+a+`}`, 9), "the tensors end at 8 of the data, which has 9 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bad.safetensors")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := ReadTensors(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want %q and the path", err, c.want)
			}
		})
	}
}

// FuzzReadTensors: no input crashes; what is read has no more elements than the
// file has bytes for, and the header written from it is read back the same.
func FuzzReadTensors(f *testing.F) {
	golden, err := os.ReadFile("testdata/golden.safetensors")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(raw(`{"a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]},"__metadata__":{"k":"v"}}   `, 8))
	f.Add(raw(`{"a":{"dtype":"F32","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := bytes.NewReader(data)
		h, err := readHeader(file, int64(len(data)))
		if err != nil {
			return
		}
		total := 0
		for _, e := range h.entries {
			tensor, err := readTensor(file, h.data, e)
			if err != nil {
				t.Fatalf("the header was accepted, but %q cannot be read: %v", e.name, err)
			}
			total += len(tensor.Data)
		}
		if total > len(data)/2 {
			t.Fatalf("%d elements from %d bytes", total, len(data))
		}
		prefix, err := h.marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := readHeader(bytes.NewReader(append(prefix, data[h.data:]...)), int64(len(prefix))+int64(len(data))-h.data)
		if err != nil {
			t.Fatalf("cannot read the header written: %v", err)
		}
		equal := func(a, b entry) bool {
			return a.name == b.name && a.dtype == b.dtype && slices.Equal(a.shape, b.shape) && a.begin == b.begin && a.end == b.end
		}
		if !slices.EqualFunc(again.entries, h.entries, equal) {
			t.Fatalf("%v became %v", h.entries, again.entries)
		}
	})
}

func BenchmarkWriteRead(b *testing.B) {
	data := make([]float32, 16<<20)
	path := filepath.Join(b.TempDir(), "x.safetensors")
	b.SetBytes(int64(4 * len(data)))
	for b.Loop() {
		if _, err := WriteTensors(path, []kernels.Tensor{{Name: "a", Shape: []int{len(data)}, Data: data}}, F32, nil); err != nil {
			b.Fatal(err)
		}
		if _, _, err := ReadTensors(path); err != nil {
			b.Fatal(err)
		}
	}
}
