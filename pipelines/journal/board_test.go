package journal

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"millrace/schemas"
)

var write = flag.Bool("write", false, "write the golden files of testdata")

// boardFiles runs a journal, kills it after step 2 and resumes from step 1.
func boardFiles(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	j := open(t, dir)
	if err := j.Evaluation(exampleEvaluation(0, "heldout-fault")); err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 2; n++ {
		step(t, j, n, schemas.Metric{Name: "critic/rewards/mean", Value: float64(n) / 4}, schemas.Metric{Name: "actor/grad_norm", Value: 2})
	}
	shut(t, j)
	j = open(t, dir)
	step(t, j, 2, schemas.Metric{Name: "critic/rewards/mean", Value: 0.75}, schemas.Metric{Name: "actor/grad_norm", Value: 3})
	shut(t, j)
	files, err := filepath.Glob(filepath.Join(dir, boardDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 {
		t.Fatalf("a journal opened twice has the event files %v", files)
	}
	return files
}

// TestEventFiles compares with files that TensorBoard 2.21's own EventAccumulator
// read, seeing steps 1 and 2 of "critic/rewards/mean" as 0.25 and 0.75, and
// "val/heldout-fault/pass@1" as 0.5.
func TestEventFiles(t *testing.T) {
	for _, path := range boardFiles(t) {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", filepath.Base(path))
		if *write {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from its golden file: %d bytes, want %d", path, len(got), len(want))
		}
	}
}

// TestMaskedCRC: CRC-32C of "123456789" is 0xe3069283 (RFC 3720 uses the same
// polynomial); masking rotates it right by 15 and adds 0xa282ead8:
// 0x2507c60d + 0xa282ead8 = 0xc78ab0e5.
func TestMaskedCRC(t *testing.T) {
	if got := maskedCRC([]byte("123456789")); got != 0xc78ab0e5 {
		t.Errorf("masked CRC is %#x", got)
	}
}

func TestFrameRecord(t *testing.T) {
	data := []byte("123456789")
	got := frameRecord(data)
	if n := binary.LittleEndian.Uint64(got); n != 9 || len(got) != 8+4+9+4 {
		t.Fatalf("a record of 9 bytes tells length %d in a frame of %d", n, len(got))
	}
	if crc := binary.LittleEndian.Uint32(got[8:]); crc != maskedCRC(got[:8]) {
		t.Errorf("length's CRC is %#x", crc)
	}
	if !bytes.Equal(got[12:21], data) || binary.LittleEndian.Uint32(got[21:]) != 0xc78ab0e5 {
		t.Errorf("frame is %x", got)
	}
}
