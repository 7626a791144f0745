package stage

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// scripted is a job that ends when it is told to.
type scripted struct {
	name      string
	done      chan struct{}
	err       error
	cancelled bool
}

func newScripted(name string) *scripted { return &scripted{name: name, done: make(chan struct{})} }

func (j *scripted) Name() string          { return j.name }
func (j *scripted) Done() <-chan struct{} { return j.done }

func (j *scripted) Wait() error {
	<-j.done
	return j.err
}

func (j *scripted) Cancel() error {
	j.cancelled = true
	return nil
}

func (j *scripted) end(err error) {
	j.err = err
	close(j.done)
}

// started adds jobs to Jobs by a Start that hands them out, and counts how often
// each was forgotten.
func started(t *testing.T, scripts ...*scripted) (*Jobs, map[string]int) {
	t.Helper()
	jobs, forgotten := &Jobs{}, map[string]int{}
	for _, script := range scripts {
		start := func(context.Context, string, *beam.Pipeline) (Job, error) { return script, nil }
		if err := jobs.Add(t.Context(), start, script.name, nil, func() { forgotten[script.name]++ }); err != nil {
			t.Fatal(err)
		}
	}
	return jobs, forgotten
}

// TestGuardEndsWithAJob: a stage that ends, with or without an error, ends what
// waits for all of them and says why.
func TestGuardEndsWithAJob(t *testing.T) {
	lost := errors.New("broker is gone")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"fails", lost, "broker is gone"},
		{"completes although its topic is followed", nil, "job score ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			score := newScripted("score")
			jobs, _ := started(t, newScripted("rollout"), score)
			ctx, stop := jobs.Guard(t.Context())
			defer stop()
			if err := ctx.Err(); err != nil {
				t.Fatalf("ended before any job: %v", err)
			}
			score.end(c.err)
			<-ctx.Done()
			if got := context.Cause(ctx).Error(); got != c.want {
				t.Errorf("cause %q, want %q", got, c.want)
			}
		})
	}
}

// TestJobsThatDoNotStart: a stage that could not be submitted is forgotten at
// once, and the others remain to be cancelled.
func TestJobsThatDoNotStart(t *testing.T) {
	running := newScripted("learn")
	jobs, forgotten := started(t, running)
	refuse := func(context.Context, string, *beam.Pipeline) (Job, error) { return nil, errors.New("runner is full") }
	err := jobs.Add(t.Context(), refuse, "score", nil, func() { forgotten["score"]++ })
	if err == nil || !strings.Contains(err.Error(), "runner is full") {
		t.Errorf("Add: %v, want the runner's error", err)
	}
	if forgotten["score"] != 1 || forgotten["learn"] != 0 {
		t.Errorf("forgotten: %v, want score alone", forgotten)
	}
	if err := jobs.Cancel(); err != nil || !running.cancelled || forgotten["learn"] != 1 {
		t.Errorf("Cancel: %v; the running job cancelled: %v, forgotten: %v", err, running.cancelled, forgotten)
	}
}

// TestDrainReportsEveryFailure: a stage that failed does not hide another's
// failure, and all are forgotten.
func TestDrainReportsEveryFailure(t *testing.T) {
	rollout, score, learn := newScripted("rollout"), newScripted("score"), newScripted("learn")
	jobs, forgotten := started(t, rollout, score, learn)
	rollout.end(errors.New("no sandbox"))
	score.end(nil)
	learn.end(errors.New("disk is full"))
	err := jobs.Drain()
	for _, want := range []string{"no sandbox", "disk is full"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Drain: %v, want %q in it", err, want)
		}
	}
	if len(forgotten) != 3 {
		t.Errorf("forgotten: %v, want all three", forgotten)
	}
}

// TestDrainUntil: a stage that is in the middle of something long is cancelled
// when the wait for it is over; one that ends in time is not.
func TestDrainUntil(t *testing.T) {
	quick := newScripted("score")
	quick.end(errors.New("disk is full"))
	jobs, forgotten := started(t, quick)
	if err := jobs.DrainUntil(t.Context()); err == nil || err.Error() != "disk is full" || quick.cancelled || forgotten["score"] != 1 {
		t.Errorf("ended by itself: %v, cancelled: %v, forgotten: %v", err, quick.cancelled, forgotten)
	}
	over := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	long := newScripted("rollout")
	jobs, forgotten = started(t, long)
	if err := jobs.DrainUntil(ctx); !errors.Is(err, over) || !long.cancelled || forgotten["rollout"] != 1 {
		t.Errorf("cut short: %v, cancelled: %v, forgotten: %v", err, long.cancelled, forgotten)
	}
}
