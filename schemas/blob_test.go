package schemas

import (
	"errors"
	"testing"
)

// TestReferenceIsNoRow: whatever record is expected, a reference that nobody
// followed is told from a broken one, with the reason that nobody did.
func TestReferenceIsNoRow(t *testing.T) {
	lost := exampleBlobs()[1]
	frame, err := Blobs.Encode(lost)
	if err != nil {
		t.Fatal(err)
	}
	if !IsBlob(frame) {
		t.Error("a reference is not recognised")
	}
	everyCodec(t, func(t *testing.T, c tested) {
		_, err := c.decode(frame)
		if c.name() == "blob" {
			if err != nil {
				t.Error(err)
			}
			return
		}
		away, ok := errors.AsType[*BlobError](err)
		if !ok || away.Blob != lost || ReasonOf(err) != BlobLost {
			t.Errorf("decoding a reference: %v", err)
		}
		other, err := c.encode()
		if err != nil || IsBlob(other) {
			t.Errorf("a record is taken for a reference (error %v)", err)
		}
	})
	broken := append([]byte(nil), frame...)
	broken[len(broken)-1] ^= 1
	if _, err := Samples.Decode(broken); ReasonOf(err) != Corrupt {
		t.Errorf("decoding a broken reference: %v", err)
	}
	if IsBlob(frame[:frameHead-1]) || IsBlob(nil) {
		t.Error("a cut head is taken for a reference")
	}
}
