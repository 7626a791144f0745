package kafkaio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// errStopped is the cause of a job's context after Stop.
var errStopped = errors.New("job stopped")

const (
	// flushTimeout bounds the last commit of a job that stops.
	flushTimeout = 5 * time.Second
	// stopTimeout bounds the wait for Work calls whose context has ended: enough to
	// kill a sandbox, not enough to hang an exit.
	stopTimeout = 30 * time.Second
)

// job is what the process holds for one running Beam job: the things that must
// outlive bundles and DoFn instances. The transforms of a pipeline find it by
// the name in their configuration.
type job struct {
	name   string
	ctx    context.Context // ends at the first failure and at Stop
	cancel context.CancelCauseFunc
	drain  chan struct{} // closed by Drain
	stats  *counters
	news   bell // rung when a reader has something to take or to say

	mu         sync.Mutex // guards the fields below
	err        error      // the first failure
	drained    bool
	lanes      map[partitionKey]*lane
	readers    map[partitionKey]*reader
	committers map[partitionKey]*committer
	routines   sync.WaitGroup

	making   sync.Mutex // guards the fields below; held while a stage is made
	stages   map[string]*stage
	releases []func() error // of what Makers made
}

// partitionKey names a partition as one consumer group sees it.
type partitionKey struct {
	group, topic string
	partition    int32
}

var jobs = struct {
	sync.Mutex
	byName map[string]*job
}{byName: make(map[string]*job)}

// jobFor returns the job of that name, making it on first use.
func jobFor(name string) *job {
	jobs.Lock()
	defer jobs.Unlock()
	if j := jobs.byName[name]; j != nil {
		return j
	}
	j := &job{
		name:       name,
		drain:      make(chan struct{}),
		stats:      countersFor(name),
		lanes:      make(map[partitionKey]*lane),
		readers:    make(map[partitionKey]*reader),
		committers: make(map[partitionKey]*committer),
		stages:     make(map[string]*stage),
	}
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	jobs.byName[name] = j
	return j
}

func jobNames() []string {
	jobs.Lock()
	defer jobs.Unlock()
	return slices.Sorted(maps.Keys(jobs.byName))
}

// fail ends the job's work with its first error. Later errors are consequences.
func (j *job) fail(err error) {
	j.mu.Lock()
	if j.err == nil && !errors.Is(err, errStopped) {
		j.err = err
	}
	j.mu.Unlock()
	j.cancel(err)
}

// failure is the first error, nil while all is well.
func (j *job) failure() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Drain asks the job to finish what it has begun and to read nothing new: its
// sources end, its Beam job completes by itself, and what it committed is where
// the next run goes on. A job is known from the moment its pipeline is built;
// draining an unknown one, or one that has ended, does nothing. A job that groups
// by event time should be cancelled instead, unless no group can be open: the
// end of a source lets all its timers fire.
func Drain(name string) {
	jobs.Lock()
	j := jobs.byName[name]
	jobs.Unlock()
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.drained {
		j.drained = true
		close(j.drain)
	}
}

// Stop ends what the process holds for the job, after its Beam job has ended or
// to make it end: the contexts of its Work calls are cancelled, it waits for
// them to return, and the job is forgotten so that another of the same name may
// start. It returns the error that failed the job, if one of this package's
// transforms did. Positions behind durable outputs are committed first.
// Stopping an unknown job does nothing.
func Stop(name string) error {
	jobs.Lock()
	j := jobs.byName[name]
	jobs.Unlock()
	if j == nil {
		return nil
	}
	j.mu.Lock()
	lanes := slices.Collect(maps.Values(j.lanes))
	committers := slices.Collect(maps.Values(j.committers))
	failed := j.err != nil
	j.mu.Unlock()

	var errs []error
	if !failed {
		for _, l := range lanes {
			l.settle()
		}
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		defer cancel()
		for _, m := range committers {
			if err := m.flush(ctx); err != nil {
				errs = append(errs, fmt.Errorf("job %s: last commit: %w", name, err))
			}
		}
	}
	j.cancel(errStopped)
	if err := j.returned(stopTimeout); err != nil {
		errs = append(errs, err)
	}
	j.making.Lock()
	for _, release := range j.releases {
		errs = append(errs, release())
	}
	j.releases = nil
	j.making.Unlock()
	jobs.Lock()
	if jobs.byName[name] == j {
		delete(jobs.byName, name)
	}
	jobs.Unlock()
	if err := j.failure(); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// returned waits until the job's goroutines have ended, its Work calls with
// them.
func (j *job) returned(limit time.Duration) error {
	all := make(chan struct{})
	go func() {
		j.routines.Wait()
		close(all)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-all:
		return nil
	case <-timer.C:
		return fmt.Errorf("job %s: work has not returned %s after its context ended", j.name, limit)
	}
}
