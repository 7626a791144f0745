package kafkaio

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[readFn]())
}

// ReadConfig are the settings of a read.
type ReadConfig struct {
	Source
	// Lag is the largest number of records of one partition between the committed
	// position and the newest read, when there is a Group and so a [Commit]
	// downstream; default 65536. Reading pauses there, so it must be above
	// whatever the pipeline holds back on purpose.
	Lag int
	// LagBytes bounds the values of one partition that are read and not finished,
	// in bytes; default 1 GiB. It too must be above what is held back on purpose.
	LagBytes int
}

// Read returns the records of a topic: PCollection<Record>, unbounded, or
// bounded when To is set. Records of a partition come in order. With a Group,
// reading starts at its committed position and every record must reach a
// [Commit] of the same job and group, as the source of some ack. An invalid
// configuration panics.
func Read(s beam.Scope, cfg ReadConfig) beam.PCollection {
	s = s.Scope("kafkaio.Read " + cfg.Topic)
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		panic(fmt.Sprintf("kafkaio.Read: %v", err))
	}
	jobFor(cfg.Job)
	parts := beam.ParDo(s, &listFn{Source: cfg.Source}, beam.Impulse(s))
	return beam.ParDo(s, &readFn{Config: cfg}, parts)
}

func (c ReadConfig) withDefaults() ReadConfig {
	c.Source = c.Source.withDefaults()
	if c.Lag == 0 {
		c.Lag = 1 << 16
	}
	if c.LagBytes == 0 {
		c.LagBytes = 1 << 30
	}
	return c
}

// Validate reports everything that is wrong with the settings.
func (c ReadConfig) Validate() error {
	problems := c.Source.problems()
	if c.Lag < 0 || c.LagBytes < 0 {
		problems = append(problems, "Lag or LagBytes is negative")
	}
	return joined(problems)
}

// readFn empties the buffer of its partition's reader. Its configuration is
// exported because it is the serialised form of the DoFn.
type readFn struct {
	Config ReadConfig
	ranges
	patience time.Time // until when this bundle may wait for news
}

const (
	// One ProcessElement takes at most readSlice and readSliceBytes: all
	// partitions of a topic share one bundle on Prism and are served in turn, and
	// what it emits goes on only when the bundle ends.
	readSlice      = 50 * time.Millisecond
	readSliceBytes = 8 << 20
	// A partition with more to take is asked again after readMore; one that was
	// emptied after readGap, so that records that come one by one share bundles. Each
	// bundle costs Prism about 8 ms of a core where all cores are busy: it spins
	// from a bundle's last output until its response.
	readMore = 10 * time.Millisecond
	readGap  = 100 * time.Millisecond
	// With nothing to take, a bundle waits for news this long. Beam moves the
	// watermark between bundles, so it bounds how late a timer fires.
	readWait = time.Second
)

// StartBundle notes that nothing is on its way yet.
func (fn *readFn) StartBundle(func(beam.EventTime, Record)) {
	fn.patience = time.Now().Add(readWait)
}

func (fn *readFn) ProcessElement(ctx context.Context, clock *wallClock, rt *sdf.LockRTracker, at partition, emit func(beam.EventTime, Record)) (sdf.ProcessContinuation, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // before jobFor, which would make an ended job anew
	}
	rest := rt.GetRestriction().(offsetrange.Restriction)
	at.Start, at.End = rest.Start, rest.End
	if at.Start >= at.End {
		return sdf.StopProcessing(), nil
	}
	reader, err := fn.Config.readerFor(at)
	if err != nil {
		return nil, err
	}
	reader.await(ctx, time.Until(fn.patience))
	clock.advance(time.Now())
	until, size, pause := time.Now().Add(readSlice), 0, readMore
	for size < readSliceBytes && time.Now().Before(until) {
		record, ok := reader.take()
		if !ok {
			pause = readGap
			break
		}
		if !rt.TryClaim(record.Source.Offset) {
			return nil, fmt.Errorf("claiming %s[%d]@%d: %w", at.Topic, at.Partition, record.Source.Offset, rt.GetError())
		}
		size += len(record.Value) + 1
		emit(clock.now(), record)
		fn.patience = time.Time{} // what is emitted waits for the end of the bundle
	}
	done, err := reader.state()
	if err != nil {
		return nil, err
	}
	if done {
		// Between the last record and the end there may be control records only.
		if at.End != unbounded && !rt.IsDone() {
			rt.TryClaim(at.End - 1)
		}
		return sdf.StopProcessing(), nil
	}
	return sdf.ResumeProcessingIn(pause), nil
}
