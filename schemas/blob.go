package schemas

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Blob stands on a topic for a record that is too large for it: the record's
// value lies in a blob store, under a name that holds its hash. Whoever reads the
// topic gets the value, or, where that is lost, the reference with the reason.
type Blob struct {
	// Topic is the topic that the record was written to first: blobs are kept
	// apart by it, so that each can be kept as long as its topic's records.
	Topic string
	// SHA256 is the hash of the value, 64 lower-case hex digits.
	SHA256 string
	// Bytes is the length of the value.
	Bytes int64
	// Problem says why the value could not be read back. It is empty on a topic,
	// but for a reference that came back from a dead letter.
	Problem string
}

// Blobs is the codec of Blob.
var Blobs = newCodec("blob", blobColumns)

var blobColumns = []column[Blob]{
	text("topic", func(b *Blob) *string { return &b.Topic }),
	text("sha256", func(b *Blob) *string { return &b.SHA256 }),
	i64("bytes", func(b *Blob) *int64 { return &b.Bytes }),
	text("problem", func(b *Blob) *string { return &b.Problem }),
}

// Name is the blob's name in its store.
func (b Blob) Name() string { return b.Topic + "/" + b.SHA256 }

// Validate checks the contract: a topic that is one element of a path, a SHA-256
// and a length above 0. A reference can so name nothing but a blob.
func (b Blob) Validate() error {
	c := &contract{schema: "blob", id: b.Name()}
	c.name("Topic", b.Topic)
	if b.Topic == "." || b.Topic == ".." || strings.ContainsAny(b.Topic, "/\\") {
		c.fail(Invalid, "Topic", "is %q, not the name of a topic", b.Topic)
	}
	if digest, err := hex.DecodeString(b.SHA256); err != nil || len(digest) != 32 || b.SHA256 != strings.ToLower(b.SHA256) {
		c.fail(Invalid, "SHA256", "is %q, not 64 lower-case hex digits", b.SHA256)
	}
	if b.Bytes < 1 {
		c.fail(Invalid, "Bytes", "is %d, less than 1", b.Bytes)
	}
	c.utf8("Problem", b.Problem)
	return c.err()
}

// IsBlob says whether a frame is a reference to a blob. It looks at the head
// alone, so it costs nothing for all other records; Blobs.Decode checks the rest.
func IsBlob(frame []byte) bool {
	return len(frame) >= frameHead && string(frame[:4]) == frameMagic && isBlob([8]byte(frame[8:16]))
}

func isBlob(fingerprint [8]byte) bool {
	for i := range Blobs.layouts {
		if Blobs.layouts[i].fingerprint == fingerprint {
			return true
		}
	}
	return false
}

// BlobError says that a record is a reference whose value is lost.
type BlobError struct{ Blob Blob }

func (e *BlobError) Error() string {
	problem := e.Blob.Problem
	if problem == "" {
		problem = "it was not read back"
	}
	return fmt.Sprintf("the record of %d bytes lies in blob %s: %s", e.Blob.Bytes, e.Blob.Name(), problem)
}

// away is the error of a reference where rows should be.
func away(frame []byte) error {
	blobs, err := Blobs.decode(frame)
	if err != nil {
		return err
	}
	return &BlobError{blobs[0]}
}
