package kafkaio

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[writeFn]())
}

// WriteConfig are the settings of a write.
type WriteConfig struct {
	Job      string
	Brokers  string
	RetryFor time.Duration // default [RetryFor]
}

// Write writes the outputs of results, each to the topic it names, with
// acks=all: PCollection<Result> -> PCollection<Ack>. The ack of a result is
// emitted when all of its outputs are durable. The acks must be consumed by
// [Commit] or [Discard]. An invalid configuration panics.
//
// Each result is one round trip to the broker, about a millisecond on one machine, and
// its outputs share batches; results that go together belong into one.
func Write(s beam.Scope, cfg WriteConfig, results beam.PCollection) beam.PCollection {
	s = s.Scope("kafkaio.Write")
	if cfg.RetryFor == 0 {
		cfg.RetryFor = RetryFor
	}
	if err := cfg.Validate(); err != nil {
		panic(fmt.Sprintf("kafkaio.Write: %v", err))
	}
	return beam.ParDo(s, &writeFn{Config: cfg}, results)
}

// Validate reports everything that is wrong with the settings.
func (c WriteConfig) Validate() error {
	var problems []string
	if c.Job == "" {
		problems = append(problems, "Job is empty")
	}
	if c.RetryFor < 0 {
		problems = append(problems, "RetryFor is negative")
	}
	if err := ValidBrokers(c.Brokers); err != nil {
		problems = append(problems, err.Error())
	}
	return joined(problems)
}

// writeFn waits for the broker in ProcessElement, not in FinishBundle: a wait
// there stops every other bundle of the worker.
type writeFn struct {
	Config WriteConfig
}

func (fn *writeFn) ProcessElement(ctx context.Context, r Result, emit func(Ack)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	j := jobFor(fn.Config.Job)
	if len(r.Outputs) > 0 {
		if err := clientFor(fn.Config.Brokers).produce(ctx, fn.Config.RetryFor, r.Outputs); err != nil {
			if ctx.Err() == nil {
				j.fail(err)
			}
			return err
		}
	}
	if len(r.Sources) > 0 {
		j.stats.of(r.Sources[0].Topic, r.Sources[0].Partition).recordsOut.Add(int64(len(r.Outputs)))
	}
	emit(Ack{Sources: r.Sources, Outputs: int64(len(r.Outputs))})
	return nil
}
