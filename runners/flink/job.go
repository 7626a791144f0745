package flink

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"

	"millrace/runners/jobserver"
)

// lostAfter is how long a job server that does not answer is asked again before
// its jobs count as lost.
const lostAfter = 2 * time.Minute

// Job is a job on the cluster.
type Job struct {
	name, id, server string
	start            string // what the cluster calls it
	manager          rest
	connection       *grpc.ClientConn
	service          jobpb.JobServiceClient
	done             chan struct{} // closed when the job has ended
	err              error         // valid when done is closed
}

// Name is the name the job was started with.
func (j *Job) Name() string { return j.name }

// ID is what the job server calls the job.
func (j *Job) ID() string { return j.id }

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait returns when the job has ended: nil if it completed,
// [jobserver.ErrCancelled], or the error that failed it for the last time, in one
// line.
func (j *Job) Wait() error {
	<-j.done
	return j.err
}

// Cancel ends the job now and returns when it has ended. What it had begun and
// not made durable is read again by the next job of its name. Cancelling a job
// that completed does nothing; one that the job server gave up may still run on
// the cluster.
func (j *Job) Cancel() error {
	ctx, cancel := context.WithTimeout(context.Background(), cancelTimeout)
	defer cancel()
	select {
	case <-j.done:
		if j.err == nil {
			return nil
		}
	default:
		if _, err := j.service.Cancel(ctx, &jobpb.CancelJobRequest{JobId: j.id}); err != nil {
			return fmt.Errorf("flink %s: cancelling job %s: %w", j.server, j.name, jobserver.OneLine(err))
		}
	}
	if err := j.manager.end(ctx, func(name string) bool { return name == j.start }, startPatience); err != nil {
		return fmt.Errorf("flink %s: cancelling job %s: %w", j.server, j.name, err)
	}
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("flink %s: job %s has not ended %s after it was cancelled", j.server, j.name, cancelTimeout)
	}
}

// watch follows the job to its end, over interruptions of the connection.
func (j *Job) watch() {
	defer close(j.done)
	defer j.connection.Close()
	var silent time.Time // since when the job server does not answer; zero while it does
	for {
		end, err := jobserver.Follow(j.service, j.id, func() { silent = time.Time{} })
		switch {
		case end.State == jobpb.JobState_DONE:
			return
		case end.State == jobpb.JobState_CANCELLED:
			j.err = jobserver.ErrCancelled
			return
		case end.State == jobpb.JobState_FAILED:
			j.err = fmt.Errorf("flink %s: job %s: %s", j.server, j.name, cause(end.Report))
			return
		case silent.IsZero():
			silent = time.Now()
		case time.Since(silent) > lostAfter:
			j.err = fmt.Errorf("flink %s: job %s: lost after %s without an answer: %w", j.server, j.name, lostAfter, err)
			return
		}
		time.Sleep(time.Second)
	}
}

// frames matches the lines of a Java or Go stack.
var frames = regexp.MustCompile(`(?m)^\s*(at .*|\.\.\. \d+ more|goroutine \d+ .*|\S+\(.*\)|\t?/\S+:\d+.*)$`)

// cause makes one line of a report of Flink's, which wraps an error of ours in a
// Java stack for each layer it passed through and puts the cause last.
func cause(report string) string {
	if report == "" {
		return "it failed and the job server does not say why; see the JobManager's log"
	}
	for _, marker := range []string{"Caused by:", "caused by:"} {
		if i := strings.LastIndex(report, marker); i >= 0 {
			report = report[i+len(marker):]
		}
	}
	return strings.Join(strings.Fields(frames.ReplaceAllString(report, "")), " ")
}
