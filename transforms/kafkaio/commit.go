package kafkaio

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[commitFn]())
}

// CommitConfig are the settings of a commit: those of the [Read] it belongs to.
type CommitConfig struct {
	Job   string
	Group string
}

// Commit commits, for each partition, the smallest offset below which
// everything that [Read] of the same job and group has read is acknowledged.
// Each source must be acknowledged exactly once; a second time is an error that
// fails the job, because it means that the first came too early.
//
// The book in which Read and Commit meet belongs to the process, so on a
// distributed runner both must run in one worker. It ends the pipeline.
func Commit(s beam.Scope, cfg CommitConfig, acks beam.PCollection) {
	s = s.Scope("kafkaio.Commit")
	if cfg.Job == "" || cfg.Group == "" {
		panic(fmt.Sprintf("kafkaio.Commit: Job %q and Group %q must not be empty", cfg.Job, cfg.Group))
	}
	beam.ParDo0(s, &commitFn{Config: cfg}, beam.Reshuffle(s, acks))
}

// commitFn only notes what is finished; the book's goroutine talks to the
// broker, so the stage, which is a terminal one, takes microseconds.
type commitFn struct {
	Config CommitConfig
}

func (fn *commitFn) ProcessElement(ctx context.Context, ack Ack) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	j := jobFor(fn.Config.Job)
	for _, p := range ack.Sources {
		j.mu.Lock()
		b := j.books[key(fn.Config.Group, p)]
		j.mu.Unlock()
		if b == nil {
			return fmt.Errorf("ack for %s[%d]@%d: job %s reads no such partition for group %s in this process", p.Topic, p.Partition, p.Offset, j.name, fn.Config.Group)
		}
		if err := b.finish(p.Offset); err != nil {
			err = fmt.Errorf("job %s: ack: %w", j.name, err)
			j.fail(err)
			return err
		}
		position, _ := b.state()
		b.release(position)
	}
	return nil
}
