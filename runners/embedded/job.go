package embedded

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"

	"millrace/runners/jobserver"
	"millrace/transforms/kafkaio"
)

const (
	submitTimeout = 30 * time.Second
	cancelTimeout = 10 * time.Second
)

// noSplits keeps Prism from splitting a bundle that makes no progress for a
// while. When it does so between two elements of one key, it runs the rest of
// the key beside the first part, and what one of them writes to the key's state
// is lost (splitBundle in its elementmanager.go frees the key too early): a group
// would lose a member and never close. Nothing here needs splits: sources hand
// back by themselves.
const noSplits = "prism_disable_sdf_split"

// Job is a running pipeline.
type Job struct {
	name, id string
	service  jobpb.JobServiceClient
	done     chan struct{} // closed when the job has ended and its parts are stopped
	err      error         // valid when done is closed
}

// submitting guards what Beam keeps in globals while a pipeline is built and
// submitted.
var submitting sync.Mutex

// RunJob submits p to the process's Prism under the given name, which must also
// be the Job in the pipeline's kafkaio configurations, and returns when it runs.
// Jobs run side by side, each with its own eight bundles and its own failures.
//
// ctx bounds the submission only. It may have a deadline: none is ever handed to
// Beam, which would end the process at it. A running job is ended by
// kafkaio.Drain, by Cancel, or by its own failure.
func RunJob(ctx context.Context, name string, p *beam.Pipeline) (*Job, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	job, crew, err := submit(name, p)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("job %s: %w", name, err), kafkaio.Stop(name))
	}
	go job.watch(crew)
	return job, nil
}

func submit(name string, p *beam.Pipeline) (*Job, *crew, error) {
	submitting.Lock()
	defer submitting.Unlock()
	prism, err := startPrism()
	if err != nil {
		return nil, nil, err
	}
	edges, _, err := p.Build()
	if err != nil {
		return nil, nil, fmt.Errorf("building the pipeline: %w", err)
	}
	crew := prism.workers.hire()
	id, err := prepareAndRun(prism.jobs, crew, name, edges)
	if err != nil {
		crew.dismiss()
		return nil, nil, err
	}
	return &Job{name: name, id: id, service: prism.jobs, done: make(chan struct{})}, crew, nil
}

// Name is the name the job was started with.
func (j *Job) Name() string { return j.name }

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait returns when the job has ended: nil if it completed,
// [jobserver.ErrCancelled], or the error that failed it, in one line.
func (j *Job) Wait() error {
	<-j.done
	return j.err
}

// Cancel ends the job now: Work calls see their contexts end, nothing more is
// committed than what is durable. It returns when the job has ended. Cancelling
// an ended job does nothing.
func (j *Job) Cancel() error {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTimeout)
	defer cancel()
	select {
	case <-j.done:
		return nil
	default:
	}
	if _, err := j.service.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.id}); err != nil {
		return fmt.Errorf("cancelling job %s: %w", j.name, jobserver.OneLine(err))
	}
	<-j.done
	return nil
}

// watch follows the job's messages to its end and then stops its parts.
func (j *Job) watch(crew *crew) {
	end, err := jobserver.Follow(j.service, j.id, func() {})
	// First the workers, so that no bundle of this job asks kafkaio for anything
	// any more; then what kafkaio holds for the job.
	crew.dismiss()
	partErr := kafkaio.Stop(j.name)
	switch {
	case partErr != nil:
		j.err = fmt.Errorf("job %s: %w", j.name, partErr) // the cause; Beam only wraps it
	case end.State == jobpb.JobState_CANCELLED:
		j.err = jobserver.ErrCancelled
	case end.State == jobpb.JobState_FAILED:
		j.err = fmt.Errorf("job %s: %s", j.name, innermost(end.Report))
	case err != nil:
		j.err = fmt.Errorf("job %s: following its messages: %w", j.name, err)
	}
	close(j.done)
}

// stack matches the stack that Beam appends to the text of a panic. The frame
// below runtime's own panic is the place that panicked.
var stack = regexp.MustCompile(`(?s)\s*goroutine \d+ \[running\]:\n(?:.*?\npanic\([^\n]*\n[^\n]*\n[^\n]*\n\s*(\S+:\d+))?.*`)

// innermost makes one line of Beam's report of a failed bundle, which wraps the
// error of a DoFn in a paragraph for each stage it passed through and puts the
// cause last. Of a panic's stack it keeps the place.
func innermost(report string) string {
	const causedBy = "caused by:"
	if i := strings.LastIndex(report, causedBy); i >= 0 {
		report = report[i+len(causedBy):]
	}
	report = stack.ReplaceAllString(report, " at $1")
	return strings.Join(strings.Fields(report), " ")
}

// employAll gives Prism's own transforms, such as a Reshuffle, a worker: they have
// the environment "". Prism asks the worker of any stage that is not done within
// a tenth of a second how far it is (Execute in its stage.go), and where there is
// none that is a nil pointer, which fails the job. On a busy machine a goroutine
// waits as long for a processor. A worker that does not know the bundle says so,
// and Prism asks no more.
func employAll(p *pipepb.Pipeline) {
	environments := p.GetComponents().GetEnvironments()
	for _, environment := range environments {
		environments[""] = environment
		return
	}
}

// prepareAndRun hands the pipeline to Prism, to be run by crew.
func prepareAndRun(service jobpb.JobServiceClient, crew *crew, name string, edges []*graph.MultiEdge) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), submitTimeout)
	defer cancel()
	environment, err := crew.environment(ctx)
	if err != nil {
		return "", fmt.Errorf("describing the workers: %w", err)
	}
	pipeline, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		return "", fmt.Errorf("serialising the pipeline: %w", err)
	}
	employAll(pipeline)
	return jobserver.Run(ctx, service, name, pipeline, map[string]any{"experiments": []any{"beam_fn_api", noSplits}})
}
