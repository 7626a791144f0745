package prove

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"millrace/pipelines/mine"
	"millrace/pipelines/stage"
)

// Config are the settings of a job.
type Config struct {
	// Name names the job, and its runs in this process.
	Name string
	// Workers is the number of candidates that are decided at the same time (> 0).
	Workers int
	// Limit bounds the candidates that are decided on in this start; 0 is no bound.
	Limit int
}

// Observer is told how a job goes on. Display implements it.
type Observer interface {
	// Phase begins a part of the job with a number of things to do, 0 if unknown, of
	// which Progress tells how many are done.
	Phase(name string, total int)
	Progress(done int)
	// Note is a line worth keeping.
	Note(text string)
}

// attempts is how often a candidate is tried when the machine fails.
const attempts = 3

// run is a job under way. DoFns are serialised, so they carry its name and find it
// here.
type run struct {
	work     Work
	journal  *Journal
	observer Observer
	slots    *semaphore.Weighted
	limit    int64

	units, listed, admitted, found, done, undecided atomic.Int64
}

var runs = struct {
	sync.Mutex
	byName map[string]*run
}{byName: map[string]*run{}}

func runOf(name string) (*run, error) {
	runs.Lock()
	defer runs.Unlock()
	if r := runs.byName[name]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("no job %q in this process", name)
}

// Run decides on all candidates of the work that the journal does not know, and
// returns when none is left. The error is of the pipeline, or tells how many stayed
// undecided because the machine failed; what was decided is in the journal either way.
// When ctx ends, the job is cancelled.
func Run(ctx context.Context, c Config, w Work, j *Journal, start stage.Start, o Observer) error {
	if c.Workers <= 0 || c.Limit < 0 {
		return fmt.Errorf("job %s: %d workers and a limit of %d candidates; want at least 1, and 0 or more", c.Name, c.Workers, c.Limit)
	}
	r := &run{work: w, journal: j, observer: o, slots: semaphore.NewWeighted(int64(c.Workers)), limit: int64(c.Limit)}
	runs.Lock()
	if runs.byName[c.Name] != nil {
		runs.Unlock()
		return fmt.Errorf("job %s is under way in this process", c.Name)
	}
	runs.byName[c.Name] = r
	runs.Unlock()
	defer func() {
		runs.Lock()
		defer runs.Unlock()
		delete(runs.byName, c.Name)
	}()
	job, err := start(ctx, c.Name, pipeline(c.Name))
	if err != nil {
		return err
	}
	if err := r.follow(ctx, job); err != nil {
		return err
	}
	if n := r.undecided.Load(); n > 0 {
		return fmt.Errorf("%d candidates are undecided because the machine failed: start again to try them", n)
	}
	return nil
}

// pollEvery is how often progress is told.
const pollEvery = 200 * time.Millisecond

// follow tells progress until the job has ended.
func (r *run) follow(ctx context.Context, job stage.Job) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	r.observer.Phase("looking for candidates", 0)
	deciding := false
	for {
		select {
		case <-job.Done():
			return job.Wait()
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), job.Cancel())
		case <-tick.C:
		}
		units := r.units.Load()
		if !deciding && units > 0 && r.listed.Load() >= units {
			deciding = true
			r.observer.Phase("running tests", int(r.found.Load()))
		}
		if deciding {
			r.observer.Progress(int(r.done.Load()))
		}
	}
}

// admit reports whether one candidate more is within the limit.
func (r *run) admit() bool {
	return r.limit == 0 || r.admitted.Add(1) <= r.limit
}

// decide decides on one candidate when its turn has come, and records it. It reports
// false when the machine failed each time; the error is fatal to the job.
func (r *run) decide(ctx context.Context, c Candidate) (d Decision, ok bool, err error) {
	if err := r.slots.Acquire(ctx, 1); err != nil {
		return d, false, err
	}
	defer r.slots.Release(1)
	for range attempts {
		if r.journal.Known(c.ID) {
			return d, false, nil
		}
		if d, err = r.work.Decide(ctx, c); err == nil {
			break
		}
		if ctx.Err() != nil {
			return d, false, ctx.Err()
		}
	}
	if err != nil {
		r.undecided.Add(1)
		r.observer.Note(fmt.Sprintf("undecided: %s: %v", c.ID, err))
		return d, false, nil
	}
	if d.Reason == None {
		if err := mine.Check(*d.Task); err != nil {
			d = Decision{ID: d.ID, Origin: d.Origin, Reason: Unsound, Detail: err.Error(), Compiled: true}
		}
	}
	r.done.Add(1)
	return d, true, r.journal.Record(d)
}
