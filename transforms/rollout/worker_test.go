package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"millrace/kernels"
	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// emitted is what an order made. It checks that Emit is called from one
// goroutine at a time.
type emitted struct {
	trajectories []schemas.Trajectory
	letters      []schemas.DeadLetter
	inside       atomic.Int32
	overlapped   atomic.Bool
}

func (e *emitted) emit() Emit {
	alone := func(do func()) {
		if e.inside.Add(1) > 1 {
			e.overlapped.Store(true)
		}
		runtime.Gosched() // lets another goroutine in, if it may
		do()
		e.inside.Add(-1)
	}
	return Emit{
		Trajectory: func(t schemas.Trajectory) { alone(func() { e.trajectories = append(e.trajectories, t) }) },
		DeadLetter: func(d schemas.DeadLetter) { alone(func() { e.letters = append(e.letters, d) }) },
	}
}

func (e *emitted) sort() {
	slices.SortFunc(e.trajectories, func(a, b schemas.Trajectory) int { return int(a.Rollout - b.Rollout) })
	slices.SortFunc(e.letters, func(a, b schemas.DeadLetter) int { return strings.Compare(a.ID, b.ID) })
}

// do runs an order with a worker of its own, in fake time.
func do(t *testing.T, ctx context.Context, a *Agent, task schemas.Task, concurrency int) (*emitted, error) {
	t.Helper()
	w, err := NewWorker(a, "run", concurrency, 100)
	if err != nil {
		t.Fatal(err)
	}
	var out emitted
	err = w.Do(ctx, task, schemas.Position{Topic: "tasks", Offset: 5}, out.emit())
	if out.overlapped.Load() {
		t.Error("Emit was called from two goroutines at once")
	}
	out.sort()
	return &out, err
}

// TestNoFailureBecomesAReward is invariant 1: each kind of infrastructure
// failure is retried, and when the attempts are used up the rollout leaves as a
// tombstone, which nothing can be learnt from, and a dead letter that says why.
func TestNoFailureBecomesAReward(t *testing.T) {
	broken := errors.New("it broke")
	failure := &sandbox.Failure{Op: "starting sandbox", Err: broken}
	cases := []struct {
		name     string
		boxes    *memory
		open     func(context.Context) error
		turns    []turn
		reason   schemas.Reason
		attempts int32
		message  string
	}{
		{name: "sandbox does not open", boxes: &memory{open: func(context.Context) error { return failure }},
			reason: schemas.SandboxFailure, attempts: 3, message: "starting sandbox: it broke"},
		{name: "sandbox dies", turns: []turn{view("."), bash("go test"), finish},
			boxes:  &memory{exec: func(context.Context, *box, string) (sandbox.Result, error) { return sandbox.Result{}, failure }},
			reason: schemas.SandboxFailure, attempts: 3, message: "calling execute_bash in turn 2: starting sandbox"},
		{name: "sandbox hangs", turns: []turn{bash("go test"), finish}, boxes: &memory{exec: untilEnd},
			reason: schemas.SandboxFailure, attempts: 3, message: "deadline exceeded"},
		{name: "workspace cannot be read back", turns: []turn{finish},
			boxes:  &memory{snapshot: func(*box) ([]schemas.File, error) { return nil, broken }},
			reason: schemas.SandboxFailure, attempts: 3, message: "reading the workspace back: it broke"},
		{name: "policy does not open", open: func(context.Context) error { return broken },
			reason: schemas.PolicyFailure, attempts: 3, message: "opening a policy session: it broke"},
		{name: "policy fails", turns: []turn{view("."), {before: func(context.Context) error { return broken }}},
			reason: schemas.PolicyFailure, attempts: 3, message: "sampling turn 2: it broke"},
		{name: "policy hangs", turns: []turn{finish.after(time.Hour)},
			reason: schemas.PolicyFailure, attempts: 3, message: "sampling turn 1: context deadline exceeded"},
		{name: "policy forgets", turns: []turn{{say: finish.say, spoil: func(c *kernels.Completion) {
			c.Tokens, c.LogProbs, c.Versions = c.Tokens[1:], c.LogProbs[1:], c.Versions[1:]
		}}}, reason: schemas.PolicyFailure, attempts: 3, message: "policy holds"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				boxes := cmp.Or(c.boxes, &memory{})
				a, p := agent(t, config(), boxes, c.turns...)
				p.open = c.open
				task := order()
				task.Rollouts = 2
				got, err := do(t, t.Context(), a, task, 8)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.trajectories) != 2 || len(got.letters) != 2 {
					t.Fatalf("%d trajectories, %d dead letters; want 2 and 2", len(got.trajectories), len(got.letters))
				}
				for i, dead := range got.trajectories {
					checkTombstone(t, dead, got.letters[i], c.reason, c.attempts, c.message)
				}
				if left := boxes.leaked(); len(left) > 0 {
					t.Errorf("sandboxes left: %v", left)
				}
				for _, s := range p.sessions {
					if !s.closed {
						t.Error("a policy session is left open")
					}
				}
			})
		})
	}
}

func checkTombstone(t *testing.T, dead schemas.Trajectory, letter schemas.DeadLetter, reason schemas.Reason, attempts int32, message string) {
	t.Helper()
	if err := errors.Join(dead.Validate(), letter.Validate()); err != nil {
		t.Error(err)
	}
	if dead.Termination != schemas.Failed || !strings.Contains(dead.Failure, message) {
		t.Errorf("tombstone %q: %q, want failed with %q", dead.Termination, dead.Failure, message)
	}
	if len(dead.Tokens)+len(dead.LossMask)+len(dead.Steps)+len(dead.Patch) > 0 {
		t.Errorf("tombstone has %d tokens, %d steps, patch %q: something could be learnt from it", len(dead.Tokens), len(dead.Steps), dead.Patch)
	}
	want := schemas.DeadLetter{
		ID: "rollout/" + dead.ID, Stage: "rollout", Reason: reason, Message: dead.Failure, RecordID: dead.ID,
		Key: []byte(dead.GroupID), Source: schemas.Position{Topic: "tasks", Offset: 5}, Attempts: attempts, Time: dead.Finished,
	}
	if diff := gocmp.Diff(want, letter); diff != "" {
		t.Errorf("dead letter (-want +got):\n%s", diff)
	}
	if id := schemas.TrajectoryID("run", dead.Task.ID, 3, dead.Rollout, attempts-1); dead.ID != id || dead.Attempt != attempts-1 {
		t.Errorf("tombstone is %s, attempt %d; want %s", dead.ID, dead.Attempt, id)
	}
}

// TestPromptTooLongIsNotRetried: trying again cannot help, and no sandbox is
// made for it.
func TestPromptTooLongIsNotRetried(t *testing.T) {
	for want, limit := range map[string]func(*Limits){ // the first prompt has 94 tokens
		"94 tokens, and 59 are allowed": func(l *Limits) { l.Context, l.Turn = 60, 60 },
		"94 tokens, and 93 are allowed": func(l *Limits) { l.Prompt = 93 },
	} {
		cfg := config()
		limit(&cfg.Limits)
		boxes := &memory{}
		a, _ := agent(t, cfg, boxes, finish)
		task := order()
		task.Rollouts = 1
		got, err := do(t, t.Context(), a, task, 1)
		if err != nil || len(got.trajectories) != 1 || len(got.letters) != 1 {
			t.Fatalf("%d trajectories, %d dead letters, %v; want 1 and 1", len(got.trajectories), len(got.letters), err)
		}
		checkTombstone(t, got.trajectories[0], got.letters[0], schemas.PromptTooLong, 1, want)
		if len(boxes.boxes) != 0 {
			t.Errorf("%d sandboxes made", len(boxes.boxes))
		}
	}
}

// TestRetry: a failure that passes costs an attempt and nothing else; the
// rollout that follows samples what the first would have sampled.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		boxes := &memory{open: func(context.Context) error {
			if opened++; opened < 3 {
				return &sandbox.Failure{Op: "starting sandbox", Err: errors.New("busy")}
			}
			return nil
		}}
		a, p := agent(t, config(), boxes, view("."), finish)
		task := order()
		task.Rollouts = 1
		got, err := do(t, t.Context(), a, task, 1)
		if err != nil || len(got.trajectories) != 1 || len(got.letters) != 0 {
			t.Fatalf("%d trajectories, %d dead letters, %v; want 1 and 0", len(got.trajectories), len(got.letters), err)
		}
		if tr := got.trajectories[0]; tr.Attempt != 2 || tr.ID != "run/3/clamp/flip/1#0.2" || tr.Termination != schemas.Finished {
			t.Errorf("got %s, attempt %d, %q", tr.ID, tr.Attempt, tr.Termination)
		}
		retried := p.sessions[0].asked[0].Seed
		first, again := agent(t, config(), &memory{}, finish)
		if _, err := do(t, t.Context(), first, task, 1); err != nil {
			t.Fatal(err)
		}
		if seed := again.sessions[0].asked[0].Seed; seed != retried {
			t.Errorf("seed %d in the third attempt, %d in the first", retried, seed)
		}
	})
}

// TestOrderTwice: an order that is run again gives the same ids, the same seeds
// and the same tokens, in whatever order its rollouts end; different rollouts,
// iterations, tasks and run seeds have different seeds.
func TestOrderTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(task schemas.Task, seed uint64, concurrency int) ([]schemas.Trajectory, map[uint64]bool) {
			cfg := config()
			cfg.Seed = seed
			a, p := agent(t, cfg, &memory{}, view("."), finish)
			got, err := do(t, t.Context(), a, task, concurrency)
			if err != nil || len(got.trajectories) != 4 {
				t.Fatalf("%d trajectories, %v; want 4", len(got.trajectories), err)
			}
			seeds := map[uint64]bool{}
			for _, s := range p.sessions {
				if s.asked[0].Seed != s.asked[1].Seed {
					t.Error("two turns of a rollout have different seeds: the position in the sequence tells them apart")
				}
				seeds[s.asked[0].Seed] = true
			}
			return got.trajectories, seeds
		}
		first, seeds := run(order(), 7, 1)
		again, same := run(order(), 7, 4)
		unlike := cmpopts.IgnoreFields(schemas.Trajectory{}, "Started", "Finished", "Versions") // the script's version counts calls
		if diff := gocmp.Diff(first, again, unlike, cmpopts.IgnoreFields(schemas.Step{}, "Sampling", "Acting")); diff != "" {
			t.Errorf("run again (-first +again):\n%s", diff)
		}
		if diff := gocmp.Diff(seeds, same); diff != "" {
			t.Errorf("seeds (-first +again):\n%s", diff)
		}
		for i, tr := range first {
			if want := fmt.Sprintf("run/3/clamp/flip/1#%d.0", i); tr.ID != want || tr.GroupID != "run/3/clamp/flip/1" {
				t.Errorf("id %s of group %s, want %s", tr.ID, tr.GroupID, want)
			}
		}
		later, other := order(), order()
		later.Iteration, other.ID = 4, "clamp/flip/2"
		_, b := run(later, 7, 4)
		_, c := run(other, 7, 4)
		_, d := run(order(), 8, 4)
		all := map[uint64]bool{}
		for _, s := range []map[uint64]bool{seeds, b, c, d} {
			for x := range s {
				all[x] = true
			}
		}
		if len(all) != 16 {
			t.Errorf("%d distinct seeds of 16 rollouts", len(all))
		}
	})
}

// TestAdmission: an order of iteration 5 with max_staleness 2 starts when the
// policy version is 3, not before.
func TestAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p := agent(t, config(), &memory{}, finish)
		w, err := NewWorker(a, "run", 4, 2)
		if err != nil {
			t.Fatal(err)
		}
		task := order()
		task.Iteration = 5
		p.version.Store(2)
		var out emitted
		done := make(chan error, 1)
		go func() { done <- w.Do(t.Context(), task, schemas.Position{}, out.emit()) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(p.sessions) != 0 {
			t.Fatal("the order started with policy version 2")
		}
		p.version.Store(3)
		if err := <-done; err != nil || len(out.trajectories) != 4 {
			t.Errorf("%d trajectories, %v; want 4", len(out.trajectories), err)
		}
	})
}

// TestCancel: when ctx ends, wherever the order is, Do returns its cause and
// nothing is emitted for what had not finished.
func TestCancel(t *testing.T) {
	cause := errors.New("the job was drained")
	cases := map[string]struct {
		prepare func(*script, *memory)
		turns   []turn
		places  int
		want    int // rollouts that had finished
	}{
		"before admission":      {prepare: func(p *script, _ *memory) { p.version.Store(-1000) }, places: 4},
		"opening a sandbox":     {prepare: func(_ *script, m *memory) { m.open = wait }, places: 4},
		"opening a session":     {prepare: func(p *script, _ *memory) { p.open = wait }, places: 4},
		"sampling":              {turns: []turn{{before: wait}}, places: 4},
		"in a command":          {turns: []turn{bash("sleep")}, prepare: func(_ *script, m *memory) { m.exec = untilEnd }, places: 4},
		"waiting for its place": {turns: []turn{finish.after(8 * time.Second)}, places: 1, want: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				boxes := &memory{}
				a, p := agent(t, config(), boxes, c.turns...)
				if c.prepare != nil {
					c.prepare(p, boxes)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(12*time.Second, func() { cancel(cause) })
				got, err := do(t, ctx, a, order(), c.places)
				if !errors.Is(err, cause) {
					t.Errorf("error %v, want the cause of the end", err)
				}
				if len(got.trajectories) != c.want || len(got.letters) != 0 {
					t.Errorf("%d trajectories, %d dead letters; want %d and 0", len(got.trajectories), len(got.letters), c.want)
				}
				if left := boxes.leaked(); len(left) > 0 {
					t.Errorf("sandboxes left: %v", left)
				}
			})
		})
	}
}

func wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestConcurrency: 3 places hold for all orders together. 8 rollouts of 10 s
// each on 3 places take 3 rounds.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		boxes := &memory{exec: func(context.Context, *box, string) (sandbox.Result, error) {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(10 * time.Second)
			running.Add(-1)
			return sandbox.Result{}, nil
		}}
		a, _ := agent(t, config(), boxes, bash("go test"), finish)
		w, err := NewWorker(a, "run", 3, 100)
		if err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		done := make(chan error)
		var outs [2]emitted
		for i := range outs {
			task := order()
			task.ID = fmt.Sprint("task ", i)
			go func() { done <- w.Do(t.Context(), task, schemas.Position{}, outs[i].emit()) }()
		}
		if err := errors.Join(<-done, <-done); err != nil {
			t.Fatal(err)
		}
		if len(outs[0].trajectories) != 4 || len(outs[1].trajectories) != 4 {
			t.Errorf("%d and %d trajectories, want 4 and 4", len(outs[0].trajectories), len(outs[1].trajectories))
		}
		if most.Load() != 3 {
			t.Errorf("%d rollouts ran at once, want 3", most.Load())
		}
		if took := time.Since(started).Truncate(time.Second); took != 30*time.Second {
			t.Errorf("took %v, want 3 rounds of 10 s", took)
		}
	})
}

func TestNewWorkerRefuses(t *testing.T) {
	a, _ := agent(t, config(), &memory{})
	if _, err := NewWorker(a, "run", 0, 0); err == nil {
		t.Error("a worker without a place for a rollout was made")
	}
	if _, err := NewWorker(a, "run", 1, -1); err == nil {
		t.Error("a worker with a negative max_staleness was made")
	}
}
