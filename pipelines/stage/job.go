package stage

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/transforms/kafkaio"
)

// Job is a running pipeline.
type Job interface {
	Name() string
	Done() <-chan struct{}
	// Wait returns when the job has ended, nil if it completed.
	Wait() error
	// Cancel ends it now and returns when it has ended.
	Cancel() error
}

// Start submits a pipeline to whatever runs it; ctx bounds the submission. A job
// outside of this process cannot be drained: it is cancelled, or ends with its
// input.
type Start func(ctx context.Context, name string, p *beam.Pipeline) (Job, error)

// Jobs are the running stages of one pipeline, upstream first.
type Jobs struct {
	jobs   []Job
	forget []func()
}

// Add starts a pipeline and keeps its job. forget is called when it has ended.
func (j *Jobs) Add(ctx context.Context, start Start, name string, p *beam.Pipeline, forget func()) error {
	job, err := start(ctx, name, p)
	if err != nil {
		forget()
		return err
	}
	j.jobs = append(j.jobs, job)
	j.forget = append(j.forget, forget)
	return nil
}

// Guard returns a context that also ends when a job ends, which none does by
// itself while its topics are followed; the cause says which job and why.
func (j *Jobs) Guard(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	for _, job := range j.jobs {
		go func() {
			select {
			case <-job.Done():
			case <-ctx.Done():
				return
			}
			err := job.Wait()
			if err == nil {
				err = fmt.Errorf("job %s ended", job.Name())
			}
			cancel(err)
		}()
	}
	return ctx, func() { cancel(nil) }
}

// Drain lets the stages finish what they have begun, upstream first, and waits.
func (j *Jobs) Drain() error {
	var errs []error
	for _, job := range j.jobs {
		kafkaio.Drain(job.Name())
		if err := job.Wait(); err != nil {
			errs = append(errs, err)
		}
	}
	j.end()
	return errors.Join(errs...)
}

// DrainUntil is Drain, and when ctx ends meanwhile Cancel.
func (j *Jobs) DrainUntil(ctx context.Context) error {
	for _, job := range j.jobs {
		kafkaio.Drain(job.Name())
		select {
		case <-job.Done():
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), j.Cancel())
		}
	}
	return j.Drain()
}

// Cancel ends the stages now. What they had begun and not made durable is read
// again by the next run.
func (j *Jobs) Cancel() error {
	var errs []error
	for _, job := range j.jobs {
		errs = append(errs, job.Cancel())
	}
	j.end()
	return errors.Join(errs...)
}

func (j *Jobs) end() {
	for _, forget := range j.forget {
		forget()
	}
	j.jobs, j.forget = nil, nil
}
