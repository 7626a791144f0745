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
	beam.RegisterDoFn(reflect.TypeFor[trackedReadFn]())
	beam.RegisterType(reflect.TypeFor[Span]())
}

// ReadConfig are the settings of a read.
type ReadConfig struct {
	Source
	// Lag is the largest distance of a [ReadTracked] from the committed position,
	// in offsets of one partition; default 65536. Reading pauses there, so it must
	// be above whatever the pipeline holds back on purpose.
	Lag int
	// LagBytes bounds the values between that position and the newest read, in
	// bytes; default 1 GiB. It too must be above what is held back on purpose.
	LagBytes int

	// tracked says that there is a Commit to keep up with.
	tracked bool
}

// Read returns the records of a topic: PCollection<Record>, unbounded, or
// bounded when To is set. Records of a partition come in order. It commits
// nothing; a Group says only where reading may start. An invalid configuration
// panics.
func Read(s beam.Scope, cfg ReadConfig) beam.PCollection {
	s = s.Scope("kafkaio.Read " + cfg.Topic)
	return beam.ParDo(s, &readFn{Config: cfg.built()}, cfg.partitions(s))
}

// ReadTracked is a Read for [Commit]: beside the records it returns begun, a
// PCollection<Span> of what was read. Reading starts at the Group's committed
// position, and every record must reach the Commit of this group, as the source
// of some ack. An invalid configuration panics.
func ReadTracked(s beam.Scope, cfg ReadConfig) (records, begun beam.PCollection) {
	s = s.Scope("kafkaio.ReadTracked " + cfg.Topic)
	if cfg.Group == "" {
		panic("kafkaio.ReadTracked: Group is empty")
	}
	return beam.ParDo2(s, &trackedReadFn{Config: cfg.built()}, cfg.partitions(s))
}

// built fills in the defaults of a configuration that becomes part of a
// pipeline, and panics if it is invalid.
func (c ReadConfig) built() ReadConfig {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		panic(fmt.Sprintf("kafkaio.Read: %v", err))
	}
	return c
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

func (c ReadConfig) partitions(s beam.Scope) beam.PCollection {
	jobFor(c.Job)
	return beam.ParDo(s, &listFn{Source: c.Source.withDefaults()}, beam.Impulse(s))
}

// Validate reports everything that is wrong with the settings.
func (c ReadConfig) Validate() error {
	problems := c.Source.problems()
	if c.Lag < 0 || c.LagBytes < 0 {
		problems = append(problems, "Lag or LagBytes is negative")
	}
	return joined(problems)
}

const (
	// One ProcessElement takes at most readSlice and readSliceBytes: all
	// partitions of a topic share one bundle on Prism and are served in turn, and
	// what it emits goes on only when the bundle ends.
	readSlice      = 50 * time.Millisecond
	readSliceBytes = 8 << 20
	// A partition with more to take is asked again after readMore; one that was
	// emptied after readGap, so that records that come one by one share bundles.
	readMore = 10 * time.Millisecond
	readGap  = 20 * time.Millisecond
	// With nothing to take, a bundle waits for news this long. Beam moves the
	// watermark between bundles, so it bounds how late a timer fires.
	readWait = 2 * time.Second
)

// readFn is the DoFn of Read, trackedReadFn that of ReadTracked. Their
// configuration is exported because it is the serialised form of the DoFn.
type readFn struct {
	Config ReadConfig
	ranges
	grace
}

// StartBundle notes that nothing is on its way yet.
func (fn *readFn) StartBundle(func(beam.EventTime, Record)) { fn.begin(fn.Config) }

func (fn *readFn) ProcessElement(ctx context.Context, clock *wallClock, rt *sdf.LockRTracker, at partition, emit func(beam.EventTime, Record)) (sdf.ProcessContinuation, error) {
	_, next, err := fn.Config.slice(ctx, &fn.grace, clock, rt, at, emit)
	return next, err
}

type trackedReadFn struct {
	Config ReadConfig
	ranges
	grace
}

// StartBundle notes that nothing is on its way yet.
func (fn *trackedReadFn) StartBundle(func(beam.EventTime, Record), func(beam.EventTime, Span)) {
	fn.begin(fn.Config)
}

func (fn *trackedReadFn) ProcessElement(ctx context.Context, clock *wallClock, rt *sdf.LockRTracker, at partition, emit func(beam.EventTime, Record), begun func(beam.EventTime, Span)) (sdf.ProcessContinuation, error) {
	cfg := fn.Config
	cfg.tracked = true
	span, next, err := cfg.slice(ctx, &fn.grace, clock, rt, at, emit)
	if err == nil && span.To > span.From {
		begun(clock.now(), span)
	}
	return next, err
}

// grace is until when a bundle may wait for news: what it has emitted goes on
// only when it ends.
type grace struct{ until time.Time }

// begin gives a new bundle its time. A cluster is asked to look rarely instead.
func (g *grace) begin(c ReadConfig) {
	g.until = time.Time{}
	if c.Poll == 0 {
		g.until = time.Now().Add(readWait)
	}
}

// slice emits what the buffer holds, within the limits of one call, and says
// what that was and when to come back.
func (c ReadConfig) slice(ctx context.Context, g *grace, clock *wallClock, rt *sdf.LockRTracker, at partition, emit func(beam.EventTime, Record)) (Span, sdf.ProcessContinuation, error) {
	if ctx.Err() != nil {
		return Span{}, nil, context.Cause(ctx) // before jobFor, which would make an ended job anew
	}
	rest := rt.GetRestriction().(offsetrange.Restriction)
	span := Span{Topic: at.Topic, Partition: at.Partition, From: rest.Start, To: rest.Start, First: rest.Start == at.Start}
	at.Start, at.End = rest.Start, rest.End
	if at.Start >= at.End {
		return span, sdf.StopProcessing(), nil
	}
	reader, err := c.readerFor(at)
	if err != nil {
		return span, nil, err
	}
	reader.await(ctx, time.Until(g.until))
	clock.advance(steady())
	until, size, pause := time.Now().Add(readSlice), 0, readMore
	for size < readSliceBytes && time.Now().Before(until) {
		record, ok := reader.take()
		if !ok {
			pause = readGap
			break
		}
		if !rt.TryClaim(record.Source.Offset) {
			return span, nil, fmt.Errorf("claiming %s[%d]@%d: %w", at.Topic, at.Partition, record.Source.Offset, rt.GetError())
		}
		size += len(record.Value) + 1
		span.Offsets = append(span.Offsets, record.Source.Offset)
		span.To = record.Source.Offset + 1
		emit(clock.now(), record)
		g.until = time.Time{}
	}
	done, drained, err := reader.state()
	if err != nil {
		return span, nil, err
	}
	if done {
		if at.End != unbounded && !rt.IsDone() {
			rt.TryClaim(at.End - 1) // Beam wants a range that ends to be claimed whole
			if !drained {
				span.To = at.End // between the last record and the end there are control records only
			}
		}
		span.Last = span.To == at.End
		return span, sdf.StopProcessing(), nil
	}
	span.Last = span.To == at.End
	return span, sdf.ResumeProcessingIn(max(pause, c.Poll)), nil
}
