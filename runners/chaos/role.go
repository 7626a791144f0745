package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/kernels"
	"millrace/kernels/cpu"
	"millrace/pipelines/stage"
	"millrace/runners/embedded"
	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
	"millrace/transforms/kafkaio"
	"millrace/transforms/learn"
	"millrace/transforms/rollout"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/score"
)

// The roles, each a process of its own.
const (
	brokerRole    = "broker"
	feederRole    = "feeder"
	rolloutRole   = "rollout"
	scoreRole     = "score"
	advantageRole = "advantage"
	learnRole     = "learn"
)

// roles in the order in which they are started.
var roles = []string{brokerRole, learnRole, advantageRole, scoreRole, rolloutRole, feederRole}

// The environment of a role's process.
const (
	roleVariable = "MILLRACE_CHAOS_ROLE"
	dirVariable  = "MILLRACE_CHAOS_DIR"
)

// Role runs the role that the environment names, and then ends the process; it
// returns at once where none is named. The main function of whatever binary runs
// a campaign calls it first, since the campaign's processes are that binary.
func Role() {
	name := os.Getenv(roleVariable)
	if name == "" {
		return
	}
	// A full disk shall be an error, as it is without a limit on file sizes.
	signal.Ignore(syscall.SIGXFSZ)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := play(ctx, name, os.Getenv(dirVariable)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// role is one process of a campaign.
type role struct {
	name     string
	dir      string // the role's
	campaign string // the campaign's directory
	settings settings
	points   *points
}

// play runs a role until ctx ends.
func play(ctx context.Context, name, campaign string) error {
	s, err := loadSettings(campaign)
	if err != nil {
		return err
	}
	r := &role{name: name, dir: roleDir(campaign, name), campaign: campaign, settings: s}
	r.points = newPoints(r.dir)
	lock, err := embedded.LockDir(r.dir)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	if err := r.points.reached(atStart); err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = kafkaio.CloseAll(closing) // the process ends
	}()
	switch name {
	case brokerRole:
		return r.broker(ctx)
	case feederRole:
		return r.feed(ctx)
	case rolloutRole:
		return r.rollout(ctx)
	case scoreRole:
		return r.score(ctx)
	case advantageRole:
		return r.advantage(ctx)
	case learnRole:
		return r.learn(ctx)
	}
	return fmt.Errorf("there is no role %q", name)
}

func roleDir(campaign, name string) string { return filepath.Join(campaign, name) }

func checkpoints(campaign string) string {
	return filepath.Join(roleDir(campaign, learnRole), "checkpoints")
}

func (r *role) broker(ctx context.Context) error {
	b, err := embedded.StartBroker(embedded.BrokerConfig{Dir: filepath.Join(r.dir, "data"), Port: r.settings.Port})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return b.Close()
}

// pipeline runs a stage until ctx or the job ends.
func (r *role) pipeline(ctx context.Context, p *beam.Pipeline, forget func()) error {
	defer forget()
	name := r.settings.stream(r.name).Job
	job, err := embedded.RunJob(ctx, name, p)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), context.Canceled) {
			return job.Cancel()
		}
		return errors.Join(context.Cause(ctx), job.Cancel())
	case <-job.Done():
		return job.Wait()
	}
}

// topics makes the topics; whichever role comes first does.
func (r *role) topics(ctx context.Context) error {
	n, err := readNumber(filepath.Join(r.campaign, partitionsFile), partitions)
	if err != nil {
		return err
	}
	s := r.settings.stream(r.name)
	return stage.Create(ctx, s.Brokers, stage.TopicSettings{Partitions: int(n)}, s.Topics)
}

func (r *role) rollout(ctx context.Context) error {
	if err := r.topics(ctx); err != nil {
		return err
	}
	tok, err := newTokenizer()
	if err != nil {
		return err
	}
	work := func() { _ = r.points.reached(atWork) }
	agent := &policy{tokenizer: tok, work: work, version: -1}
	a, err := rollout.NewAgent(agent, tok, boxes{work: work}, rollout.Config{
		Limits:   rollout.Limits{Context: window, Turn: window / 2, Steps: 4, Malformed: 2, Action: 10 * time.Second, Time: time.Hour},
		Prompt:   rollout.Prompt{System: "Guess.", User: "{{.Statement}}", Reminder: "{{.}}"},
		Tools:    tools.Limits{Style: tools.Brief, Action: 5 * time.Second},
		Sampling: kernels.Sampling{Temperature: 1}, Seed: r.settings.Seed, Attempts: 3,
	})
	if err != nil {
		return err
	}
	worker, err := rollout.NewWorker(a, run, 2*groups*rollouts, 0)
	if err != nil {
		return err
	}
	s := r.settings.stream(r.name)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		if err := stage.FollowPolicy(ctx, s, run, agent.publish); err != nil && ctx.Err() == nil {
			stop(fmt.Errorf("following the policy: %w", err))
		}
	}()
	p, forget := stage.Rollout(s, worker, 2*groups)
	return r.pipeline(ctx, p, forget)
}

func (r *role) score(ctx context.Context) error {
	if err := r.topics(ctx); err != nil {
		return err
	}
	c := score.DefaultConfig()
	c.Environment, c.CacheFile = "chaos", filepath.Join(r.dir, cacheFile)
	scorer, err := score.NewScorer(c, boxes{work: func() { _ = r.points.reached(atWork) }})
	if err != nil {
		return err
	}
	defer scorer.Close()
	p, forget := stage.Score(r.settings.stream(r.name), scorer, 2*groups*rollouts)
	return r.pipeline(ctx, p, forget)
}

const cacheFile = "scores.cache"

func (r *role) advantage(ctx context.Context) error {
	if err := r.topics(ctx); err != nil {
		return err
	}
	p := stage.Advantage(r.settings.stream(r.name), filter.Config{Mode: filter.Compact}, advantage.DefaultConfig())
	return r.pipeline(ctx, p, func() {})
}

func (r *role) learn(ctx context.Context) error {
	if err := r.topics(ctx); err != nil {
		return err
	}
	s := r.settings.stream(r.name)
	trainer, err := newTrainer(r.settings.Seed)
	if err != nil {
		return err
	}
	defer trainer.Close()
	opening := time.Now()
	l, err := learn.Open(learner(checkpoints(r.campaign)), learn.Parts{
		Trainer: trainer,
		Now:     jumping(),
		Reached: r.points.reached,
		Publish: func(ctx context.Context, version int64, _ kernels.Weights, dir string) error {
			if err := r.points.reached(atPublish); err != nil {
				return err
			}
			return stage.Announce(ctx, s, schemas.PolicyVersion{Run: run, Version: version, Checkpoint: dir, Time: time.Now().UnixMicro()})
		},
	})
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(r.dir, openedFile), time.Since(opening).String()); err != nil {
		return err
	}
	if err := l.Announce(ctx); err != nil {
		return err
	}
	forget, err := learn.Register(s.Job, l)
	if err != nil {
		return err
	}
	return r.pipeline(ctx, stage.Learn(s, l.Positions()), forget)
}

// jumping is a clock that is set wrong at every look, by up to half a day.
func jumping() func() time.Time {
	return func() time.Time { return time.Now().Add(rand.N(24*time.Hour) - 12*time.Hour) }
}

// openedFile holds how long the learner took to open its checkpoint.
const openedFile = "opened"

func newTrainer(seed uint64) (kernels.Trainer, error) {
	weights, err := cpu.InitWeights(model, seed)
	if err != nil {
		return nil, err
	}
	return cpu.NewTrainer(model, weights)
}
