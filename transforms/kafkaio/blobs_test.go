package kafkaio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"millrace/schemas"
)

// shelf is a store in memory.
type shelf struct {
	mu    sync.Mutex
	blobs map[string][]byte
	// refuse is asked before each operation; nil refuses nothing.
	refuse func(op string) error
	asked  int
}

func (s *shelf) ask(op string) error {
	s.asked++
	if s.refuse == nil {
		return nil
	}
	return s.refuse(op)
}

func (s *shelf) Put(_ context.Context, name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ask("put"); err != nil {
		return err
	}
	s.blobs[name] = bytes.Clone(data)
	return nil
}

func (s *shelf) Get(_ context.Context, name string, size int64) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ask("get"); err != nil {
		return nil, err
	}
	data, ok := s.blobs[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("nothing here: %w", ErrBlobMissing)
	case int64(len(data)) != size:
		return nil, fmt.Errorf("%d bytes: %w", len(data), ErrBlobWrong)
	}
	return bytes.Clone(data), nil
}

const aboveForTest = 64 << 10

// offloading makes the client of brokers keep large values on a shelf, for the
// length of the test.
func offloading(t *testing.T, brokers string) *shelf {
	t.Helper()
	before := clientFor(brokers)
	s := &shelf{blobs: make(map[string][]byte)}
	Offload(brokers, s, aboveForTest)
	t.Cleanup(func() {
		clients.Lock()
		defer clients.Unlock()
		clients.byBrokers[brokers] = before
	})
	return s
}

// noise does not compress.
func noise(n int) []byte {
	b, x := make([]byte, n), uint32(n+1)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

// testBlobs: values on either side of the limit come back as they were, from
// topics that take no more than the limit.
func testBlobs(t *testing.T, brokers string) {
	s := offloading(t, brokers)
	topic := newTopic(t, brokers, 1)
	topics, err := Topics(t.Context(), brokers, func(name string) bool { return name == topic })
	if err != nil || len(topics) != 1 {
		t.Fatal(topics, err)
	}
	for _, setting := range topics[0].Settings {
		if want := fmt.Sprint(aboveForTest + 64<<10); setting.Name == "max.message.bytes" && setting.Value != want {
			t.Errorf("max.message.bytes is %s, want %s", setting.Value, want)
		}
	}
	sizes := []int{0, 10, aboveForTest, aboveForTest + 1, 20, 3 << 20, aboveForTest + 1}
	var outputs []Output
	for i, size := range sizes {
		outputs = append(outputs, Output{Topic: topic, Key: fmt.Append(nil, i), Value: noise(size), ID: fmt.Sprint(i), Headers: []Header{{Key: "h", Value: []byte("v")}}})
	}
	for range 50 { // many full batches of what does not compress
		outputs = append(outputs, Output{Topic: topic, Key: []byte("k"), Value: noise(aboveForTest)})
		sizes = append(sizes, aboveForTest)
	}
	if err := Produce(t.Context(), brokers, outputs...); err != nil {
		t.Fatal(err)
	}
	if len(outputs[3].Value) != aboveForTest+1 {
		t.Error("the caller's outputs were changed")
	}
	records := consumeAll(t, Source{Brokers: brokers, Topic: topic})
	if len(records) != len(sizes) {
		t.Fatalf("%d records, want %d", len(records), len(sizes))
	}
	for i, r := range records {
		if !bytes.Equal(r.Value, noise(sizes[i])) || i < 7 && (string(r.Key) != fmt.Sprint(i) || len(r.Headers) != 2) {
			t.Errorf("record %d of %d bytes came back as %d bytes, key %q, headers %v", i, sizes[i], len(r.Value), r.Key, r.Headers)
		}
	}
	if len(s.blobs) != 2 { // two of the three are equal
		t.Errorf("%d blobs", len(s.blobs))
	}
	for name := range s.blobs {
		if !strings.HasPrefix(name, topic+"/") {
			t.Errorf("blob %s is not named after its topic %s", name, topic)
		}
	}
}

// TestLostBlobs: what is lost for good comes as its reference, which says why and
// can be written again; the records behind it are not held up.
func TestLostBlobs(t *testing.T) {
	brokers := startFake(t).ListenAddrs()[0]
	for _, c := range []struct {
		name   string
		damage func(s *shelf, name string)
		want   string
	}{
		{"missing", func(s *shelf, name string) { delete(s.blobs, name) }, "missing"},
		{"another length", func(s *shelf, name string) { s.blobs[name] = s.blobs[name][1:] }, "not what was written"},
		{"another content", func(s *shelf, name string) { s.blobs[name][7] ^= 1 }, "another hash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := offloading(t, brokers)
			topic := newTopic(t, brokers, 1)
			value := noise(aboveForTest + 1)
			if err := Produce(t.Context(), brokers, Output{Topic: topic, Value: value}, Output{Topic: topic, Value: []byte("behind")}); err != nil {
				t.Fatal(err)
			}
			for name := range s.blobs {
				c.damage(s, name)
			}
			records := consumeAll(t, Source{Brokers: brokers, Topic: topic})
			if len(records) != 2 || string(records[1].Value) != "behind" {
				t.Fatalf("%d records", len(records))
			}
			_, err := schemas.Samples.Decode(records[0].Value)
			lost, ok := errors.AsType[*schemas.BlobError](err)
			if !ok || lost.Blob.Topic != topic || lost.Blob.Bytes != int64(len(value)) || !strings.Contains(lost.Blob.Problem, c.want) {
				t.Fatalf("decoding the record: %v, want %q", err, c.want)
			}
			// Restored, and put back as a dead letter's payload is.
			if err := s.Put(t.Context(), lost.Blob.Name(), value); err != nil {
				t.Fatal(err)
			}
			if err := Produce(t.Context(), brokers, Output{Topic: topic, Value: records[0].Value}); err != nil {
				t.Fatal(err)
			}
			for _, i := range []int{0, 2} {
				if again := consumeAll(t, Source{Brokers: brokers, Topic: topic}); len(again) != 3 || !bytes.Equal(again[i].Value, value) {
					t.Errorf("record %d is not whole after the blob is back", i)
				}
			}
		})
	}
}

// TestBlobIsDurableBeforeItsReference: while the store does not take the value,
// nothing is on the topic; an outage is waited for, a refusal is not.
func TestBlobIsDurableBeforeItsReference(t *testing.T) {
	brokers := startFake(t).ListenAddrs()[0]
	s := offloading(t, brokers)
	topic := newTopic(t, brokers, 1)
	value := noise(aboveForTest + 1)
	outputs := []Output{{Topic: topic, Value: value}}
	written := func() int { return len(consumeAll(t, Source{Brokers: brokers, Topic: topic})) }

	s.refuse = func(string) error { return fmt.Errorf("no bucket: %w", ErrBlobRefused) }
	err := Produce(t.Context(), brokers, outputs...)
	if !errors.Is(err, ErrBlobRefused) || s.asked != 1 || written() != 0 {
		t.Errorf("refused: %v after %d attempts, %d records", err, s.asked, written())
	}
	s.refuse = func(string) error { return errors.New("connection reset\nby peer") }
	err = clientFor(brokers).produce(t.Context(), time.Nanosecond, outputs)
	if err == nil || !strings.Contains(err.Error(), "gave up after") || strings.Contains(err.Error(), "\n") || written() != 0 {
		t.Errorf("outage: %v, %d records", err, written())
	}
	failures := 2
	s.refuse = func(string) error {
		if failures--; failures >= 0 {
			return errors.New("connection reset")
		}
		return nil
	}
	if err := Produce(t.Context(), brokers, outputs...); err != nil || written() != 1 {
		t.Errorf("short outage: %v, %d records", err, written())
	}
}

// TestStoreThatIsAway: reading waits for a store as for a broker, and what it
// cannot get by waiting ends it with one line. Neither makes a record lost.
func TestStoreThatIsAway(t *testing.T) {
	brokers := startFake(t).ListenAddrs()[0]
	s := offloading(t, brokers)
	topic := newTopic(t, brokers, 1)
	if err := Produce(t.Context(), brokers, Output{Topic: topic, Value: noise(aboveForTest + 1)}); err != nil {
		t.Fatal(err)
	}
	failures := 3
	s.refuse = func(string) error {
		if failures--; failures >= 0 {
			return errors.New("connection reset")
		}
		return nil
	}
	if records := consumeAll(t, Source{Brokers: brokers, Topic: topic}); len(records) != 1 || schemas.IsBlob(records[0].Value) {
		t.Error("the value did not come after a short outage")
	}
	end := Latest
	source := Source{Job: t.Name(), Brokers: brokers, Topic: topic, To: &end, RetryFor: time.Nanosecond}
	handle := func(r Record) error { return fmt.Errorf("a record of %d bytes was delivered", len(r.Value)) }
	for _, c := range []struct {
		refuse error
		want   string
	}{
		{errors.New("connection reset"), "gave up after 1ns: connection reset"},
		{fmt.Errorf("listing s3://b: %w", ErrBlobRefused), "listing s3://b: blob store refuses"},
	} {
		s.refuse = func(string) error { return c.refuse }
		if err := Consume(t.Context(), source, handle); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	clientFor(brokers).blobs = nil
	if err := Consume(t.Context(), source, handle); err == nil || !strings.Contains(err.Error(), "kafka.blobs.url") {
		t.Errorf("without a store: %v", err)
	}
}

func TestValidBlobs(t *testing.T) {
	for _, c := range []struct {
		place string
		above int
		want  string
	}{
		{"file:///var/lib/blobs", BlobsAbove, ""},
		{"s3://bucket?region=eu-west-1&prefix=blobs/", BlobsAbove, ""},
		{"gs://bucket", maxBatchBytes - batchRoom, ""},
		{"gs://bucket", maxBatchBytes - batchRoom + 1, "blobs.above is 67043329: must be between 4096 and 67043328 bytes"},
		{"gs://bucket", 4095, "blobs.above is 4095"},
		{"/var/lib/blobs", BlobsAbove, `begins with ""`},
		{"mem://", BlobsAbove, `begins with "mem"`},
		{"s3://key:hunter2@bucket", BlobsAbove, "credentials come from the environment"},
		{"s3://key:hunter2@bucket:port", BlobsAbove, "is not a URL"},
	} {
		err := ValidBlobs(c.place, c.above)
		if (err != nil) != (c.want != "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v, want %q", c.place, err, c.want)
		}
	}
}
