package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"millrace/schemas"
)

const (
	// fetchWait is how long the broker holds a fetch open when there is nothing
	// new. It happens on a goroutine of its own, one a partition, so it costs no
	// latency; a shorter one only costs requests.
	fetchWait = time.Second
	// fetchBytes bounds one answer. A larger record still comes, alone.
	fetchBytes = 4 << 20
)

// fetcher reads one partition. The real one asks a broker; tests have one in
// memory.
type fetcher interface {
	// fetch returns the records from offset on, waiting a bounded time for the
	// first. An empty answer is not an error.
	fetch(ctx context.Context, topic string, partition int32, offset int64) (batch, error)
	// whole returns a fetched record with the value that was written, trying for
	// budget where that lies elsewhere. It comes one record at a time behind fetch,
	// since an answer may refer to more than memory holds.
	whole(ctx context.Context, budget time.Duration, r Record) (Record, error)
}

// batch is one answer. next is the offset to ask for next: above the last
// record, and above control records at the tail, which kafka-go hides and which
// would otherwise pin the reader in a hot loop. high is the end of the log.
type batch struct {
	records    []Record
	next, high int64
}

func (c *client) fetch(ctx context.Context, topic string, partition int32, offset int64) (batch, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWait+attemptTimeout)
	defer cancel()
	response, err := c.kafka.Fetch(ctx, &kafka.FetchRequest{
		Topic: topic, Partition: int(partition), Offset: offset,
		MinBytes: 1, MaxBytes: fetchBytes, MaxWait: fetchWait,
	})
	if err != nil {
		return batch{}, err
	}
	if response.Error != nil {
		return batch{}, response.Error
	}
	b := batch{next: offset, high: response.HighWatermark}
	for {
		r, err := response.Records.ReadRecord()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return batch{}, fmt.Errorf("reading the answer: %w", err)
		}
		record, err := own(r, topic, partition)
		if err != nil {
			return batch{}, err
		}
		if record.Source.Offset < b.next {
			continue // a compressed batch is sent whole, from its first record on
		}
		b.records = append(b.records, record)
		b.next = record.Source.Offset + 1
	}
	return b, b.passControl(response.Records)
}

// own copies a record out of kafka-go's page buffers and releases them.
func own(r *protocol.Record, topic string, partition int32) (Record, error) {
	record := Record{
		Time:   r.Time.UnixMilli(),
		Source: schemas.Position{Topic: topic, Partition: partition, Offset: r.Offset},
	}
	for _, h := range r.Headers {
		record.Headers = append(record.Headers, Header{Key: h.Key, Value: h.Value})
	}
	var err error
	if record.Key, err = take(r.Key); err == nil {
		record.Value, err = take(r.Value)
	}
	if err != nil {
		return Record{}, fmt.Errorf("reading %s[%d]@%d: %w", topic, partition, r.Offset, err)
	}
	return record, nil
}

func take(b protocol.Bytes) ([]byte, error) {
	if b == nil {
		return nil, nil
	}
	defer b.Close()
	return protocol.ReadAll(b)
}

// passControl moves next behind the control batches of the answer; a control
// batch holds exactly one record. An answer with batches but without progress
// is an error: stepping over a data batch that cannot be read would lose it.
func (b *batch) passControl(answer protocol.RecordReader) error {
	stream, ok := answer.(*protocol.RecordStream)
	if !ok || len(stream.Records) == 0 {
		return nil
	}
	passed := len(b.records) > 0
	for _, r := range stream.Records {
		if control, ok := r.(*protocol.ControlBatch); ok && control.BaseOffset >= b.next {
			b.next, passed = control.BaseOffset+1, true
		}
	}
	if !passed {
		return fmt.Errorf("the batch that holds offset %d has no readable record from there on", b.next)
	}
	return nil
}

// follow reads a partition from start to end (exclusive; math.MaxInt64 never
// ends) and hands each record to deliver in order. deliver may block: that is
// the back pressure. progress is told the next offset and the end of the log
// after every answer.
//
// It returns nil at the end, the context's cause when ctx ended, deliver's
// error, or an error after budget without one good answer.
func follow(ctx context.Context, f fetcher, at partition, brokers string, budget time.Duration, progress func(next, high int64), deliver func(Record) error) error {
	p := patience{budget: budget}
	for next := at.Start; next < at.End; {
		b, err := f.fetch(ctx, at.Topic, at.Partition, next)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			what := fmt.Sprintf("kafka %s: fetching %s[%d]@%d", brokers, at.Topic, at.Partition, next)
			if !retryable(err) {
				return fmt.Errorf("%s: %w", what, plain(err))
			}
			pause, ok := p.again(time.Now())
			if !ok {
				return fmt.Errorf("%s: gave up after %s: %w", what, budget, plain(err))
			}
			if !sleep(ctx, pause) {
				return context.Cause(ctx)
			}
			continue
		}
		p.well()
		for _, record := range b.records {
			if record.Source.Offset >= at.End {
				break
			}
			record, err := f.whole(ctx, budget, record)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return err
			}
			if err := deliver(record); err != nil {
				return err
			}
		}
		next = b.next
		progress(next, b.high)
	}
	return nil
}
