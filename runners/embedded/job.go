package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"

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

// ErrCancelled is what Wait returns for a job that was cancelled.
var ErrCancelled = errors.New("job cancelled")

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
	job, worker, err := submit(name, p)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("job %s: %w", name, err), kafkaio.Stop(name))
	}
	go job.watch(worker)
	return job, nil
}

func submit(name string, p *beam.Pipeline) (*Job, *extworker.Loopback, error) {
	submitting.Lock()
	defer submitting.Unlock()
	service, _, err := startPrism()
	if err != nil {
		return nil, nil, err
	}
	edges, _, err := p.Build()
	if err != nil {
		return nil, nil, fmt.Errorf("building the pipeline: %w", err)
	}
	// The worker's context lives as long as the job and has no deadline.
	worker, err := extworker.StartLoopback(context.Background(), 0)
	if err != nil {
		return nil, nil, fmt.Errorf("starting the worker: %w", err)
	}
	id, err := prepareAndRun(service, worker, name, edges)
	if err != nil {
		return nil, nil, errors.Join(oneLine(err), worker.Stop(context.Background()))
	}
	return &Job{name: name, id: id, service: service, done: make(chan struct{})}, worker, nil
}

// Name is the name the job was started with.
func (j *Job) Name() string { return j.name }

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait returns when the job has ended: nil if it completed, ErrCancelled, or the
// error that failed it, in one line.
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
		return fmt.Errorf("cancelling job %s: %w", j.name, oneLine(err))
	}
	<-j.done
	return nil
}

// watch follows the job's messages to its end and then stops its parts.
func (j *Job) watch(worker *extworker.Loopback) {
	state, message, err := j.follow()
	// First the worker, so that no bundle of this job asks kafkaio for anything
	// any more; then what kafkaio holds for the job.
	stopErr := worker.Stop(context.Background())
	partErr := kafkaio.Stop(j.name)
	switch {
	case partErr != nil:
		j.err = fmt.Errorf("job %s: %w", j.name, partErr) // the cause; Beam only wraps it
	case state == jobpb.JobState_CANCELLED:
		j.err = ErrCancelled
	case state == jobpb.JobState_FAILED:
		j.err = fmt.Errorf("job %s: %s", j.name, message)
	case err != nil:
		j.err = fmt.Errorf("job %s: following its messages: %w", j.name, oneLine(err))
	case stopErr != nil:
		j.err = fmt.Errorf("job %s: stopping its worker: %w", j.name, stopErr)
	}
	close(j.done)
}

// follow returns the state the job ended in and, if it failed, why.
func (j *Job) follow() (state jobpb.JobState_Enum, message string, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := j.service.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: j.id})
	if err != nil {
		return state, "", err
	}
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return state, message, nil
		}
		if err != nil {
			return state, message, err
		}
		if m := response.GetMessageResponse(); m != nil && m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
			message = innermost(m.GetMessageText())
		}
		if s := response.GetStateResponse(); s != nil {
			state = s.GetState()
		}
		switch {
		case state == jobpb.JobState_DONE, state == jobpb.JobState_CANCELLED:
			return state, "", nil
		case state == jobpb.JobState_FAILED && message != "":
			return state, message, nil // the state may come before the message
		}
	}
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

func oneLine(err error) error {
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
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

// prepareAndRun is what Beam's universal runner does, without its process-wide
// flags, without waiting, and without leaving its empty file in the temporary
// directory.
func prepareAndRun(service jobpb.JobServiceClient, worker *extworker.Loopback, name string, edges []*graph.MultiEdge) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), submitTimeout)
	defer cancel()
	environment, err := graphx.CreateEnvironment(ctx, "beam:env:external:v1", worker.EnvironmentConfig)
	if err != nil {
		return "", fmt.Errorf("describing the worker: %w", err)
	}
	pipeline, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		return "", fmt.Errorf("serialising the pipeline: %w", err)
	}
	// The protocol wants a worker binary to be staged; this process is the worker,
	// so an empty file stands for it.
	binary, err := os.CreateTemp("", "millrace-worker-*")
	if err != nil {
		return "", fmt.Errorf("making the worker's placeholder: %w", err)
	}
	defer os.Remove(binary.Name())
	if err := binary.Close(); err != nil {
		return "", fmt.Errorf("making the worker's placeholder: %w", err)
	}
	if err := runnerlib.UpdateGoEnvironmentWorker(binary.Name(), pipeline); err != nil {
		return "", fmt.Errorf("describing the worker: %w", err)
	}
	employAll(pipeline)
	id, endpoint, token, err := runnerlib.Prepare(ctx, service, pipeline, &runnerlib.JobOptions{Name: name, Loopback: true, Experiments: []string{noSplits}})
	if err != nil {
		return "", fmt.Errorf("preparing: %w", err)
	}
	staged, err := runnerlib.Stage(ctx, id, endpoint, binary.Name(), token)
	if err != nil {
		return "", fmt.Errorf("staging: %w", err)
	}
	return runnerlib.Submit(ctx, service, id, staged)
}
