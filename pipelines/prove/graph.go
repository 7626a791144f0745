package prove

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"golang.org/x/sync/errgroup"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(string), error](&unitsFn{})
	register.DoFn3x1[context.Context, string, func([]byte), error](&listFn{})
	register.DoFn3x1[context.Context, []byte, func([]byte), error](&decideFn{})
	register.Function1x0(discard)
	register.Emitter1[string]()
	register.Emitter1[[]byte]()
}

// batchSize is the number of candidates in one element. A runner hands a worker one
// element after the other, so the pool works on one batch at a time and waits for its
// slowest; small enough to spread over machines, large enough for that not to matter.
const batchSize = 64

// pipeline is the graph of a job that Run has made known by name in this process.
// Elements are batches of candidates and decisions as JSON.
//
// A stage whose outputs stay inside it makes Prism spin, so the long one hands its
// decisions to a Reshuffle; another one stands behind the listing, so that listing
// and deciding are stages of their own.
func pipeline(job string) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	units := beam.ParDo(s, &unitsFn{Job: job}, beam.Impulse(s))
	batches := beam.ParDo(s, &listFn{Job: job}, beam.Reshuffle(s, units))
	decisions := beam.ParDo(s, &decideFn{Job: job}, beam.Reshuffle(s, batches))
	beam.ParDo0(s, discard, beam.Reshuffle(s, decisions))
	return p
}

// unitsFn emits the units of the work.
type unitsFn struct{ Job string }

func (fn *unitsFn) ProcessElement(ctx context.Context, _ []byte, emit func(string)) error {
	r, err := runOf(fn.Job)
	if err != nil {
		return err
	}
	units, err := r.work.Units(ctx)
	if err != nil {
		return err
	}
	r.units.Store(int64(len(units)))
	for _, u := range units {
		emit(u)
	}
	return nil
}

// listFn emits the candidates of a unit that are not decided, in batches.
type listFn struct{ Job string }

func (fn *listFn) ProcessElement(ctx context.Context, unit string, emit func([]byte)) error {
	r, err := runOf(fn.Job)
	if err != nil {
		return err
	}
	var batch []Candidate
	flush := func() error {
		text, err := json.Marshal(batch)
		if err != nil {
			return fmt.Errorf("listing the candidates of %s: %w", unit, err)
		}
		r.found.Add(int64(len(batch)))
		batch = nil
		emit(text)
		return nil
	}
	err = r.work.List(ctx, unit, r.journal.Known, func(c Candidate) error {
		if r.journal.Known(c.ID) || !r.admit() {
			return nil
		}
		if batch = append(batch, c); len(batch) < batchSize {
			return nil
		}
		return flush()
	}, r.journal.Record)
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	r.listed.Add(1)
	return err
}

// decideFn decides on the candidates of a batch, some at a time, and emits the
// decisions when they are on disk.
type decideFn struct{ Job string }

func (fn *decideFn) ProcessElement(ctx context.Context, batch []byte, emit func([]byte)) error {
	r, err := runOf(fn.Job)
	if err != nil {
		return err
	}
	var candidates []Candidate
	if err := json.Unmarshal(batch, &candidates); err != nil {
		return fmt.Errorf("reading a batch of candidates: %w", err)
	}
	// Only this goroutine may emit.
	decided := make(chan Decision, len(candidates))
	g, gctx := errgroup.WithContext(ctx)
	for _, c := range candidates {
		g.Go(func() error {
			d, ok, err := r.decide(gctx, c)
			if ok && err == nil {
				decided <- d
			}
			return err
		})
	}
	err = g.Wait()
	close(decided)
	for d := range decided {
		text, encodeErr := json.Marshal(d)
		if encodeErr != nil {
			return encodeErr
		}
		emit(text)
	}
	return err
}

func discard([]byte) {}
