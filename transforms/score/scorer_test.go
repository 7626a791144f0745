package score

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

func score(t *testing.T, s *Scorer, tr schemas.Trajectory) schemas.Reward {
	t.Helper()
	r, err := s.Score(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestScore(t *testing.T) {
	p := &fakeProvider{exec: solvedWhen("right\n")}
	s := newScorer(t, p, nil)

	r := score(t, s, trajectory(aTask("wrong\n"), patchA("wrong", "right")))
	if r.Value != 1 || r.Failure != "" || r.Cached || !cmp.Equal(r.Passed, []string{"TestHidden"}) {
		t.Errorf("solved: %+v", r)
	}
	r = score(t, s, trajectory(aTask("wrong\n"), ""))
	if r.Value != 0 || r.Failure != "" || r.Cached || !cmp.Equal(r.FailedTests, []string{"TestHidden"}) {
		t.Errorf("empty patch: %+v", r)
	}
	if p.execs != 2 {
		t.Errorf("%d runs, want 2: an empty patch is run for real", p.execs)
	}
	r = score(t, s, trajectory(aTask("wrong\n"), ""))
	if r.Value != 0 || !r.Cached || p.execs != 2 {
		t.Errorf("again: %+v after %d runs", r, p.execs)
	}
	// Another task of another fault whose agent arrives at the same files.
	other := aTask("bad\n")
	other.ID = "other"
	r = score(t, s, trajectory(other, patchA("bad", "right")))
	if r.Value != 1 || !r.Cached || p.execs != 2 {
		t.Errorf("equal end state: %+v after %d runs", r, p.execs)
	}
	// The run is shared, the grade is the task's own.
	other.PassToPass = []string{"TestElsewhere"}
	if r = score(t, s, trajectory(other, patchA("bad", "right"))); r.Value != 0 || !r.Cached {
		t.Errorf("other expectations: %+v", r)
	}
	if want := (Counts{Scored: 5, Hits: 3}); s.Counts() != want {
		t.Errorf("counts %+v, want %+v", s.Counts(), want)
	}
}

// TestNoFailureBecomesAReward (invariant 1): each way in which the
// infrastructure fails is tried Attempts times and ends as Failure, never as a
// value; and what only looks like a failure is worth 0.
func TestNoFailureBecomesAReward(t *testing.T) {
	boom := &sandbox.Failure{Op: "starting sandbox", Err: errors.New("no such namespace")}
	const trouble = "go: write /tmp/x: no space left on device\n"
	for name, tt := range map[string]struct {
		open  func(context.Context) error
		res   sandbox.Result
		err   error
		fails string // what Failure names; empty: the value is 0
	}{
		"sandbox does not start":  {open: func(context.Context) error { return boom }, fails: "no such namespace"},
		"sandbox dies":            {err: boom, fails: "no such namespace"},
		"disk full":               {res: sandbox.Result{ExitCode: 1, Output: trouble}, fails: "no space left on device"},
		"disk full behind a pass": {res: sandbox.Result{ExitCode: 1, Output: verdict("pass").Output + trouble}, fails: "no space left on device"},
		"no go command":           {res: sandbox.Result{ExitCode: 127, Output: "sh: 1: go: not found\n"}, fails: "go: not found"},
		"sandbox hangs": {open: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			fails: context.DeadlineExceeded.Error()},
		"tests time out": {res: sandbox.Result{ExitCode: -1, TimedOut: true}},
		"tests time out, pass seen": {res: sandbox.Result{ExitCode: -1, TimedOut: true,
			Output: `{"Action":"run","Package":"m","Test":"TestHidden"}`}},
		"build fails":        {res: sandbox.Result{ExitCode: 1, Output: `{"ImportPath":"m","Action":"build-fail"}`}},
		"module is broken":   {res: sandbox.Result{ExitCode: 1, Output: "go: errors parsing go.mod\n"}},
		"nothing is printed": {res: sandbox.Result{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakeProvider{open: tt.open, exec: func(context.Context, []schemas.File) (sandbox.Result, error) { return tt.res, tt.err }}
				s := newScorer(t, p, nil)
				r := score(t, s, trajectory(aTask("wrong\n"), ""))
				if r.Value != 0 || r.Cached {
					t.Errorf("reward %+v", r)
				}
				if (r.Failure != "") != (tt.fails != "") || !strings.Contains(r.Failure, tt.fails) {
					t.Errorf("failure %q, want one that names %q", r.Failure, tt.fails)
				}
				want := 1
				if tt.fails != "" {
					want = s.config.Attempts
				}
				if p.opens != want {
					t.Errorf("%d attempts, want %d", p.opens, want)
				}
				// A failure is not remembered: the next trajectory tries again.
				score(t, s, trajectory(aTask("wrong\n"), ""))
				if tt.fails != "" && p.opens != 2*want || tt.fails == "" && p.opens != 1 {
					t.Errorf("%d attempts after the second trajectory", p.opens)
				}
			})
		})
	}
}

// TestUnsupported: a provider that can never open the task is asked once.
func TestUnsupported(t *testing.T) {
	p := &fakeProvider{open: func(context.Context) error { return fmt.Errorf("image repo:1: %w", sandbox.ErrUnsupported) }}
	task := aTask("wrong\n")
	task.Image, task.Files = "repo:1", nil
	if r := score(t, newScorer(t, p, nil), trajectory(task, "")); !strings.Contains(r.Failure, "repo:1") || p.opens != 1 {
		t.Errorf("failure %q after %d attempts", r.Failure, p.opens)
	}
}

// What no retry can mend fails at once, without a sandbox.
func TestUnscorable(t *testing.T) {
	p := &fakeProvider{exec: solvedWhen("right\n")}
	s := newScorer(t, p, nil)
	tombstone := trajectory(aTask("wrong\n"), "")
	tombstone.Termination, tombstone.Failure = schemas.Failed, "policy did not answer"
	change := func(f func(*schemas.Task)) schemas.Trajectory {
		task := aTask("wrong\n")
		f(&task)
		return trajectory(task, "")
	}
	for _, tt := range []struct {
		t    schemas.Trajectory
		want string
	}{
		{tombstone, "policy did not answer"},
		{trajectory(aTask("wrong\n"), patchA("something else", "right")), "patch"},
		{change(func(t *schemas.Task) { t.FailToPass = nil }), "expects no test"},
		{change(func(t *schemas.Task) { t.TestFormat = "py.test" }), `unknown test format "py.test", want one of ant,`},
		{change(func(t *schemas.Task) { t.Rule = "most" }), `unknown rule "most", want one of fail-only,`},
		{change(func(t *schemas.Task) { t.TestCommand = "" }), "no test command"},
	} {
		if r := score(t, s, tt.t); !strings.Contains(r.Failure, tt.want) || r.Value != 0 {
			t.Errorf("failure %q, want one that names %q", r.Failure, tt.want)
		}
	}
	if p.opens != 0 {
		t.Errorf("%d sandboxes were opened", p.opens)
	}
}

func TestRetryPausesDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		start := time.Now()
		p := &fakeProvider{exec: func(context.Context, []schemas.File) (sandbox.Result, error) {
			at = append(at, time.Since(start))
			if len(at) < 4 {
				return sandbox.Result{}, errors.New("busy")
			}
			return verdict("pass"), nil
		}}
		s := newScorer(t, p, func(c *Config) { c.Attempts, c.Backoff = 4, time.Second })
		if r := score(t, s, trajectory(aTask("x\n"), "")); r.Value != 1 || r.Failure != "" {
			t.Errorf("reward %+v", r)
		}
		if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}; !cmp.Equal(at, want) {
			t.Errorf("attempts at %v, want %v", at, want)
		}
		if s.Counts().Retries != 3 {
			t.Errorf("counts %+v", s.Counts())
		}
	})
}

// Whoever is stopped writes nothing; whoever waited for his run makes it.
func TestStoppedScoringIsNoReward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeProvider{exec: func(ctx context.Context, _ []schemas.File) (sandbox.Result, error) {
			select {
			case <-ctx.Done():
				return sandbox.Result{}, ctx.Err()
			case <-time.After(10 * time.Second):
				return verdict("pass"), nil
			}
		}}
		s := newScorer(t, p, nil)
		tr := trajectory(aTask("x\n"), "")
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if r, err := s.Score(ctx, tr); !errors.Is(err, context.Canceled) || r.Trajectory.ID != "" {
				t.Errorf("stopped: %+v, %v", r, err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if r := score(t, s, tr); r.Value != 1 || r.Cached {
				t.Errorf("the one who waited: %+v", r)
			}
		})
		synctest.Wait()
		stop()
		wg.Wait()
		if p.execs != 2 {
			t.Errorf("%d runs, want 2", p.execs)
		}
	})
}

// Trajectories with one end state that are scored at once make one run.
func TestSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeProvider{exec: func(context.Context, []schemas.File) (sandbox.Result, error) {
			time.Sleep(time.Second)
			return verdict("pass"), nil
		}}
		s := newScorer(t, p, nil)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				tr := trajectory(aTask("x\n"), "")
				tr.ID = fmt.Sprintf("g#%d.0", i)
				if r := score(t, s, tr); r.Value != 1 || r.Trajectory.ID != tr.ID {
					t.Errorf("reward %+v", r)
				}
			})
		}
		wg.Wait()
		if p.execs != 1 {
			t.Errorf("%d runs, want 1", p.execs)
		}
		if c := s.Counts(); c.Scored != 16 || c.Hits != 15 {
			t.Errorf("counts %+v", c)
		}
	})
}
