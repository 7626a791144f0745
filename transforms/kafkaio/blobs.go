package kafkaio

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"time"

	"millrace/schemas"
)

// BlobStore holds values that are too large for a topic; package blobs has one.
// It is safe for concurrent use.
type BlobStore interface {
	// Put returns when data is durable under name. A blob of that name is replaced,
	// which makes it young again: it must outlive the newest record that refers to
	// it.
	Put(ctx context.Context, name string, data []byte) error
	// Get returns a blob that nobody else holds. It must not read more than size
	// bytes of it: where it has another length, the error wraps [ErrBlobWrong].
	Get(ctx context.Context, name string, size int64) ([]byte, error)
}

// What a store's errors may wrap; any other is an outage, and tried again.
var (
	// ErrBlobMissing means that the store answers and has no such blob.
	ErrBlobMissing = errors.New("blob is missing")
	// ErrBlobWrong means that the blob is not what was written.
	ErrBlobWrong = errors.New("blob is not what was written")
	// ErrBlobRefused means that the store cannot be used with these settings.
	ErrBlobRefused = errors.New("blob store refuses")
)

const (
	// BlobsAbove is the size from which on a value is a blob, where none is given:
	// what a topic with Kafka's default limit (1 MiB and 12 bytes) takes.
	BlobsAbove = 1<<20 - batchRoom
	// blobsAboveMin keeps references, of some 600 bytes, out of the store.
	blobsAboveMin = 4 << 10
	// batchRoom is what a batch may have beyond one value: key, headers, and
	// frameRoom.
	batchRoom = 64 << 10
	// blobRate is the slowest link, in bytes a second, on which a blob still comes
	// within its deadline.
	blobRate = 1 << 20
)

// Offload makes every client of brokers in this process keep values of more than
// above bytes in a store, and read them back. Topics that it creates, and batches
// that it writes, get a limit to match: above and 64 KiB. Call it behind
// [Connect] and before anything else that names these brokers.
//
// The value lies in the store before its reference is on the topic. What reads a
// topic ([Read], [Async], [Consume], [Scan]) gets the value itself, its hash and
// length verified. A value that is lost comes as its reference, schemas.Blob,
// with the reason in Problem: decoding it is a *schemas.BlobError, so that a
// stage makes a dead letter of it. A store that cannot be reached is retried as a
// broker is, and then fails the job.
//
// A blob is named TOPIC/SHA256, after the topic that it was written to, so that a
// store can delete it when the topic has deleted its records. Nothing here does.
func Offload(brokers string, store BlobStore, above int) {
	clients.Lock()
	defer clients.Unlock()
	transport := newTransport()
	if old := clients.byBrokers[brokers]; old != nil {
		transport = old.transport
	}
	c := newClient(brokers, transport, above+batchRoom)
	c.blobs, c.above = store, above
	clients.byBrokers[brokers] = c
}

// ValidBlobs checks the place of a store, as gocloud.dev has it: file:///DIR,
// s3://BUCKET or gs://BUCKET and a query, without credentials; and the size above
// which a value is kept there.
func ValidBlobs(place string, above int) error {
	u, err := url.Parse(place)
	switch {
	case err != nil:
		return errors.New("blobs.url is not a URL") // its text, which may hold a password, is not shown
	case u.User != nil:
		return errors.New("blobs.url holds a user or password: credentials come from the environment alone")
	case u.Scheme != "file" && u.Scheme != "s3" && u.Scheme != "gs":
		return fmt.Errorf("blobs.url begins with %q: want file:///DIR, s3://BUCKET or gs://BUCKET", u.Scheme)
	case above < blobsAboveMin || above > maxBatchBytes-batchRoom:
		return fmt.Errorf("blobs.above is %d: must be between %d and %d bytes", above, blobsAboveMin, maxBatchBytes-batchRoom)
	}
	return nil
}

// offload puts what is too large into the store and returns the outputs as they
// go to the topics.
func (c *client) offload(ctx context.Context, budget time.Duration, outputs []Output) ([]Output, error) {
	var small []Output
	for i, o := range outputs {
		if len(o.Value) <= c.above {
			continue
		}
		sum := sha256.Sum256(o.Value)
		blob := schemas.Blob{Topic: o.Topic, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(o.Value))}
		err := c.patiently(ctx, budget, "writing", blob, func(ctx context.Context) error { return c.blobs.Put(ctx, blob.Name(), o.Value) })
		if err != nil {
			return nil, err
		}
		if small == nil {
			small = append(small, outputs...)
		}
		if small[i].Value, err = schemas.Blobs.Encode(blob); err != nil {
			return nil, fmt.Errorf("referring to blob %s: %w", blob.Name(), err)
		}
	}
	if small == nil {
		return outputs, nil
	}
	return small, nil
}

// whole returns a record with the value that was written: that of a blob, where
// the record is a reference. A value that is lost leaves the reference, and says
// so in it. An error is about the store.
func (c *client) whole(ctx context.Context, budget time.Duration, r Record) (Record, error) {
	if !schemas.IsBlob(r.Value) {
		return r, nil
	}
	blobs, err := schemas.Blobs.Decode(r.Value)
	if err != nil || len(blobs) != 1 {
		return r, nil // a broken record as any other: who decodes it finds out
	}
	blob := blobs[0]
	blob.Problem = ""
	if c.blobs == nil {
		return r, fmt.Errorf("kafka %s: the record at %s[%d]@%d lies in blob %s: say where its store is (kafka.blobs.url)",
			c.brokers, r.Source.Topic, r.Source.Partition, r.Source.Offset, blob.Name())
	}
	var value []byte
	err = c.patiently(ctx, budget, "reading", blob, func(ctx context.Context) (err error) {
		if value, err = c.blobs.Get(ctx, blob.Name(), blob.Bytes); err != nil {
			return err
		}
		if sum := sha256.Sum256(value); hex.EncodeToString(sum[:]) != blob.SHA256 {
			return fmt.Errorf("its content has another hash: %w", ErrBlobWrong)
		}
		return nil
	})
	switch {
	case errors.Is(err, ErrBlobMissing), errors.Is(err, ErrBlobWrong):
		blob.Problem = err.Error()
		if r.Value, err = schemas.Blobs.Encode(blob); err != nil {
			return r, fmt.Errorf("referring to blob %s: %w", blob.Name(), err)
		}
		return r, nil
	case err != nil:
		return r, err
	}
	r.Value = value
	return r, nil
}

// patiently tries until the store has done it, cannot do it, or budget is used up.
func (c *client) patiently(ctx context.Context, budget time.Duration, what string, blob schemas.Blob, attempt func(context.Context) error) error {
	p := patience{budget: budget}
	limit := attemptTimeout + time.Duration(math.Ceil(float64(blob.Bytes)/blobRate))*time.Second
	for {
		bounded, cancel := context.WithTimeout(ctx, limit)
		err := attempt(bounded)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, ErrBlobMissing), errors.Is(err, ErrBlobWrong), errors.Is(err, ErrBlobRefused):
			return fmt.Errorf("%s blob %s: %w", what, blob.Name(), &oneLine{err})
		}
		pause, ok := p.again(time.Now())
		if !ok {
			return fmt.Errorf("%s blob %s: gave up after %s: %w", what, blob.Name(), budget, &oneLine{err})
		}
		if !sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}
