package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"

	"millrace/schemas"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[listFn]())
	beam.RegisterType(reflect.TypeFor[partition]())
}

// Source says what is read: part of the configuration of [Read] and [Async].
type Source struct {
	// Job is the name of the Beam job, by which Drain and Stop find its parts.
	Job string
	// Brokers is "host:port[,host:port...]".
	Brokers string
	Topic   string
	// Group is the consumer group that positions are committed to; empty commits
	// nothing.
	Group string
	// From is where reading starts; default "committed".
	From Position
	// To is where reading ends, exclusive; nil follows the topic for ever. A name
	// ("latest") is resolved when the job starts.
	To *Position
	// Positions are explicit starts, stronger than From, for those partitions of
	// Topic that they name: a checkpoint that keeps its own positions.
	Positions []schemas.Position
	// RetryFor is how long a broker that fails is retried; default [RetryFor].
	RetryFor time.Duration
	// Poll is the shortest pause between two looks of the runner at a partition;
	// 0 is what suits a runner in this process. Looks are what a cluster pays for.
	Poll time.Duration
}

func (s Source) withDefaults() Source {
	if s.RetryFor == 0 {
		s.RetryFor = RetryFor
	}
	return s
}

// problems lists everything that is wrong with the settings.
func (s Source) problems() []string {
	var problems []string
	if s.Job == "" {
		problems = append(problems, "Job is empty")
	}
	if s.Topic == "" {
		problems = append(problems, "Topic is empty")
	}
	if s.RetryFor < 0 || s.Poll < 0 {
		problems = append(problems, "RetryFor and Poll must not be negative")
	}
	if err := ValidBrokers(s.Brokers); err != nil {
		problems = append(problems, err.Error())
	}
	seen := make(map[int32]bool)
	for _, p := range s.Positions {
		if p.Topic == s.Topic && seen[p.Partition] {
			problems = append(problems, fmt.Sprintf("Positions names partition %d twice", p.Partition))
		}
		if p.Offset < 0 {
			problems = append(problems, fmt.Sprintf("Positions has the negative offset %d for partition %d", p.Offset, p.Partition))
		}
		seen[p.Partition] = p.Topic == s.Topic || seen[p.Partition]
	}
	return problems
}

// ValidBrokers checks the form "host:port[,host:port...]".
func ValidBrokers(brokers string) error {
	for _, one := range strings.Split(brokers, ",") {
		host, port, err := net.SplitHostPort(one)
		if err != nil || host == "" || port == "" {
			return fmt.Errorf("brokers %q: want host:port[,host:port...]", brokers)
		}
	}
	return nil
}

func joined(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}

// partition is the element of the splittable DoFns: a partition and the range
// of it to read, resolved to numbers.
type partition struct {
	Topic     string
	Partition int32
	// Start and End are half open; End is math.MaxInt64 when there is none.
	Start, End int64
}

// listFn lists the partitions of a topic and resolves their ranges. It is a
// DoFn of its own so that network errors have a place to be returned.
type listFn struct {
	Source Source
}

func (fn *listFn) ProcessElement(ctx context.Context, _ []byte, emit func(partition)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx) // before jobFor, which would make an ended job anew
	}
	j := jobFor(fn.Source.Job)
	parts, err := fn.Source.list(ctx)
	if err != nil {
		j.fail(err)
		return err
	}
	if fn.Source.To == nil {
		j.routines.Go(func() {
			if err := clientFor(fn.Source.Brokers).awaitGrowth(j.ctx, fn.Source.Topic, len(parts)); err != nil {
				j.fail(err)
			}
		})
	}
	for _, p := range parts {
		emit(p)
	}
	return nil
}

// Endless says whether something in a pipeline follows a topic for ever.
func Endless(edges []*graph.MultiEdge) bool {
	return slices.ContainsFunc(edges, func(e *graph.MultiEdge) bool {
		if e.DoFn == nil {
			return false
		}
		fn, ok := e.DoFn.Recv.(*listFn)
		return ok && fn.Source.To == nil
	})
}

func (s Source) list(ctx context.Context) ([]partition, error) {
	c := clientFor(s.Brokers)
	ids, err := c.partitions(ctx, s.RetryFor, s.Topic)
	if err != nil {
		return nil, err
	}
	parts := make([]partition, 0, len(ids))
	for _, id := range ids {
		p := partition{Topic: s.Topic, Partition: id, End: unbounded}
		b, err := c.bounds(ctx, s.RetryFor, s.Group, s.Topic, id)
		if err != nil {
			return nil, err
		}
		if p.Start, err = s.start(id).resolve(b); err != nil {
			return nil, fmt.Errorf("kafka %s: %s[%d]: start %w", s.Brokers, s.Topic, id, err)
		}
		if s.To != nil {
			if p.End, err = s.To.resolve(b); err != nil {
				return nil, fmt.Errorf("kafka %s: %s[%d]: end %w", s.Brokers, s.Topic, id, err)
			}
			p.End = max(p.End, p.Start) // an end before the start is an empty range
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func (s Source) start(id int32) Position {
	for _, p := range s.Positions {
		if p.Topic == s.Topic && p.Partition == id {
			return At(p.Offset)
		}
	}
	return s.From
}
