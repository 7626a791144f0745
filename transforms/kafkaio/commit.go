package kafkaio

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"

	"millrace/schemas"
)

func init() {
	beam.RegisterDoFn(spanMark)
	beam.RegisterDoFn(reflect.TypeFor[ackMarksFn]())
	beam.RegisterDoFn(reflect.TypeFor[commitFn]())
	beam.RegisterType(reflect.TypeFor[mark]())
}

// CommitConfig are the settings of a commit: those of the [ReadTracked] it
// belongs to.
type CommitConfig struct {
	Job      string
	Brokers  string
	Group    string
	RetryFor time.Duration // default [RetryFor]
}

// Commit commits, for each partition, the smallest offset below which
// everything that was read is acknowledged: begun is the PCollection<Span> of
// the ReadTracked, acks the PCollection<Ack> of what became of its records.
// Each source must be acknowledged exactly once; a second time is an error that
// fails the job, because it means that the first came too early.
//
// What is known of a partition is keyed state of the runner, so the records of
// a partition may be read in one worker, acknowledged in others and committed in
// a third. The last position of a bounded read is committed before its job ends.
// It ends the pipeline.
func Commit(s beam.Scope, cfg CommitConfig, begun, acks beam.PCollection) {
	s = s.Scope("kafkaio.Commit")
	if cfg.RetryFor == 0 {
		cfg.RetryFor = RetryFor
	}
	if err := cfg.Validate(); err != nil {
		panic(fmt.Sprintf("kafkaio.Commit: %v", err))
	}
	marks := beam.Flatten(s, beam.ParDo(s, spanMark, begun), beam.ParDo(s, &ackMarksFn{}, acks))
	end(s, beam.ParDo(s, &commitFn{Config: cfg, Tally: state.MakeValueState[[]byte]("tally")}, marks))
}

// Validate reports everything that is wrong with the settings.
func (c CommitConfig) Validate() error {
	var problems []string
	if c.Job == "" || c.Group == "" {
		problems = append(problems, fmt.Sprintf("Job %q and Group %q must not be empty", c.Job, c.Group))
	}
	if c.RetryFor < 0 {
		problems = append(problems, "RetryFor is negative")
	}
	if err := ValidBrokers(c.Brokers); err != nil {
		problems = append(problems, err.Error())
	}
	return joined(problems)
}

// mark is one thing to enter into a tally: a span, or acknowledged offsets.
type mark struct {
	Acks bool // Offsets of Span are acknowledged; the rest of it names the partition
	Span Span
}

// place is the key of a partition.
func place(topic string, partition int32) string { return fmt.Sprintf("%s[%d]", topic, partition) }

func spanMark(s Span) (string, mark) { return place(s.Topic, s.Partition), mark{Span: s} }

// ackMarksFn puts the acks of a bundle together, by partition: each mark costs
// the runner a read and a write of state.
type ackMarksFn struct {
	byPlace map[string]*mark
}

func (fn *ackMarksFn) StartBundle(func(string, mark)) { fn.byPlace = make(map[string]*mark) }

func (fn *ackMarksFn) ProcessElement(ack Ack, _ func(string, mark)) {
	for _, p := range ack.Sources {
		fn.add(p)
	}
}

func (fn *ackMarksFn) add(p schemas.Position) {
	key := place(p.Topic, p.Partition)
	m := fn.byPlace[key]
	if m == nil {
		m = &mark{Acks: true, Span: Span{Topic: p.Topic, Partition: p.Partition}}
		fn.byPlace[key] = m
	}
	m.Span.Offsets = append(m.Span.Offsets, p.Offset)
}

func (fn *ackMarksFn) FinishBundle(emit func(string, mark)) {
	for key, m := range fn.byPlace {
		emit(key, *m)
	}
	fn.byPlace = nil
}

// commitFn keeps the tally of a partition, and emits nothing. The committer's
// goroutine talks to the broker, so the stage is quick; but for the last position,
// after which the runner may end the process.
type commitFn struct {
	Config CommitConfig
	Tally  state.Value[[]byte]
}

func (fn *commitFn) ProcessElement(ctx context.Context, sp state.Provider, key string, m mark, _ func(Ack)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // before jobFor, which would make an ended job anew
	}
	j := jobFor(fn.Config.Job)
	t, err := fn.enter(sp, m)
	if err == nil {
		c := j.committerFor(fn.Config, m.Span)
		c.release(t.position)
		if t.over() {
			err = c.flush(ctx)
		}
	}
	if err != nil {
		err = fmt.Errorf("job %s: %s: %w", j.name, key, err)
		j.fail(err)
		return err
	}
	return nil
}

// enter brings the state of a partition up to date and returns it. Its position
// is 0 until it is known.
func (fn *commitFn) enter(sp state.Provider, m mark) (*tally, error) {
	b, known, err := fn.Tally.Read(sp)
	if err != nil {
		return nil, fmt.Errorf("reading what is acknowledged: %w", err)
	}
	t := newTally()
	if known {
		if t, err = decodeTally(b); err != nil {
			return nil, err
		}
	}
	if m.Acks {
		for _, offset := range m.Span.Offsets {
			if err := t.acknowledge(offset); err != nil {
				return nil, err
			}
		}
	} else if err := t.read(m.Span); err != nil {
		return nil, err
	}
	if err := fn.Tally.Write(sp, t.encode()); err != nil {
		return nil, fmt.Errorf("writing what is acknowledged: %w", err)
	}
	return t, nil
}

// committerFor finds or makes the committer of a span's partition. One that is
// made here knows nothing of what is committed, and its first commit tells.
func (j *job) committerFor(c CommitConfig, s Span) *committer {
	at := partitionKey{group: c.Group, topic: s.Topic, partition: s.Partition}
	j.mu.Lock()
	m := j.committers[at]
	j.mu.Unlock()
	if m != nil {
		return m
	}
	return j.newCommitter(clientFor(c.Brokers), c.RetryFor, at, 0)
}
