package reprocess

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
	"millrace/transforms/kafkaio"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(schemas.Member), error](&laneFn{})
	register.DoFn3x1[context.Context, advantage.Closed, func(kafkaio.Ack), error](&sinkFn{})
	register.Emitter1[schemas.Member]()
	register.Emitter1[kafkaio.Ack]()
}

// Pipeline is the graph of the package comment around the job registered under a name
// in this process.
func Pipeline(name string, lanes int, f filter.Config, a advantage.Config) *beam.Pipeline {
	p, root := beam.NewPipelineWithRoot()
	var acks []beam.PCollection
	for lane := range lanes {
		s := root.Scope(fmt.Sprintf("lane %d", lane))
		members := beam.ParDo(s, &laneFn{Job: name, Lane: lane}, beam.Impulse(s))
		closed := advantage.Bundled(s, a, filter.Filter(s, f, members))
		acks = append(acks, beam.ParDo(s, &sinkFn{Job: name, Lane: lane}, closed))
	}
	kafkaio.Discard(root, beam.Flatten(root, acks...))
	return p
}

// jobs are the jobs under way in this process, by name: a DoFn is serialised and can
// carry a name, not files and clients.
var jobs sync.Map

func jobOf(name string) (*job, error) {
	j, ok := jobs.Load(name)
	if !ok {
		return nil, fmt.Errorf("no reprocessing named %q runs in this process", name)
	}
	return j.(*job), nil
}

// laneFn reads a lane.
type laneFn struct {
	Job  string
	Lane int
}

// ProcessElement takes as long as the lane.
func (fn *laneFn) ProcessElement(_ context.Context, _ []byte, emit func(schemas.Member)) error {
	j, err := jobOf(fn.Job)
	if err != nil {
		return err
	}
	if err := j.begin(fn.Lane); err != nil {
		return err
	}
	return j.read(fn.Lane, emit)
}

// sinkFn writes what leaves the groups of a lane.
type sinkFn struct {
	Job  string
	Lane int
}

// ProcessElement emits an ack without sources: nothing is committed behind it.
func (fn *sinkFn) ProcessElement(_ context.Context, c advantage.Closed, emit func(kafkaio.Ack)) error {
	j, err := jobOf(fn.Job)
	if err != nil {
		return err
	}
	if err := j.write(fn.Lane, c); err != nil {
		return err
	}
	emit(kafkaio.Ack{Outputs: int64(len(c.Samples) + len(c.DeadLetters))})
	return nil
}
