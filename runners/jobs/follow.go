package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// followPoll is how often a log is looked at for more.
const followPoll = 100 * time.Millisecond

// Log copies the job's log to out. With follow it goes on until the job has ended
// or ctx ends.
func (j Job) Log(ctx context.Context, follow bool, out io.Writer) error {
	f, err := os.Open(j.LogFile())
	for follow && errors.Is(err, fs.ErrNotExist) {
		if ended, statusErr := j.ended(); statusErr != nil || ended {
			return statusErr
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followPoll):
		}
		f, err = os.Open(j.LogFile())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has said nothing yet
	}
	if err != nil {
		return fmt.Errorf("reading the log of job %s: %w", j.ID, err)
	}
	defer f.Close()
	for {
		// Whether it has ended is asked first: what it wrote before is then there.
		ended, err := j.ended()
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, f); err != nil {
			return fmt.Errorf("reading the log of job %s: %w", j.ID, err)
		}
		if !follow || ended {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followPoll):
		}
	}
}

// ended reports whether no process works on the job.
func (j Job) ended() (bool, error) {
	s, err := j.Status()
	return err == nil && (s.State == Lost || s.State != Running && !s.Process.Alive()), err
}
