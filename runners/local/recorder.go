package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"millrace/pipelines/submit"
	"millrace/runners/jobs"
)

// recordEvery is the least time between two writings of a job's status for its
// progress alone.
const recordEvery = time.Second

// recorder keeps the status file of a job that this process works on.
type recorder struct {
	job jobs.Job

	mu      sync.Mutex // guards all below, and the file
	status  jobs.Status
	written time.Time
}

// newRecorder takes the job over, whose lock this process holds.
func newRecorder(job jobs.Job) (*recorder, error) {
	status, err := job.Status()
	if err != nil {
		return nil, err
	}
	if status.State == jobs.Done {
		return nil, fmt.Errorf("job %s is done: there is nothing to go on with", job.ID)
	}
	if status.Process, err = jobs.Self(); err != nil {
		return nil, err
	}
	status.State, status.Error, status.Ended, status.Result = jobs.Running, "", time.Time{}, nil
	status.Runs++
	return &recorder{job: job, status: status, written: time.Now()}, job.Write(status)
}

// Phase implements submit.Observer.
func (r *recorder) Phase(name string, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Phase, r.status.Finished, r.status.Total = name, 0, total
	r.write()
}

// Progress implements submit.Observer.
func (r *recorder) Progress(done int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Finished = done
	if time.Since(r.written) >= recordEvery {
		r.write()
	}
}

// write is for progress: what cannot be written now is told by the next one.
func (r *recorder) write() {
	r.written = time.Now()
	if err := r.job.Write(r.status); err != nil {
		slog.Warn(err.Error())
	}
}

// end writes what became of the job. ctx is the one it had.
func (r *recorder) end(ctx context.Context, result submit.Result, err error) (jobs.Status, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.status
	s.Ended, s.Phase, s.Finished, s.Total = time.Now(), "", 0, 0
	if result.Counts != nil {
		s.Result = &result
	}
	switch {
	case err == nil:
		s.State = jobs.Done
	case ctx.Err() != nil:
		s.State = jobs.Cancelled
	case errors.Is(err, submit.ErrDrained):
		s.State = jobs.Drained
	default:
		s.State, s.Error = jobs.Failed, oneLine(err)
	}
	return *s, r.job.Write(*s)
}
