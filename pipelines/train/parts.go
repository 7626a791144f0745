package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/devices"
	"millrace/kernels/tokenizer"
	"millrace/pipelines/mine"
	"millrace/pipelines/settings"
	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/learn"
	"millrace/transforms/rollout"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/docker"
	"millrace/transforms/score"
)

// parts are the live things of a run: what the stages' functions work with.
type parts struct {
	tasks      []schemas.Task
	policyDir  string // of the starting policy
	tokenizer  *tokenizer.Tokenizer
	sandboxes  sandbox.Provider
	fresh      sandbox.Provider // the scorer's: no command has a result before it ran
	process    *sandbox.Process // nil where containers hold all
	containers *docker.Later
	verdict    score.Rewarder // by hidden tests, or a text environment's goals
	reward     score.Rewarder // what is trained on
	generator  sampler
	workers    []*rollout.Worker
	device     *devices.Device // of the learner and the engine
	learner    *learn.Learner
	close      []func() error
}

// open makes the parts, the trained policy at its newest checkpoint among them.
func open(ctx context.Context, c Config, env Environment, announce stage.Stream) (_ *parts, err error) {
	p := &parts{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.tasks, err = c.Tasks.load(); err != nil {
		return nil, err
	}
	policyDir, model, weights, err := p.loadPolicy(c, env.Dir)
	if err != nil {
		return nil, err
	}
	p.policyDir = policyDir
	if err := p.openSandboxes(c, env.Dir, env.GoCache); err != nil {
		return nil, err
	}
	if err := p.readyFor(ctx, p.tasks); err != nil {
		return nil, err
	}
	return p, p.openPolicy(ctx, c, env, policyDir, model, weights, announce)
}

// loadPolicy reads the policy of the configuration and returns where it lies. The
// shipped one is unpacked below dir.
func (p *parts) loadPolicy(c Config, dir string) (from string, model kernels.Config, weights []kernels.Tensor, err error) {
	if from, err = policyDir(c, dir); err != nil {
		return from, model, nil, err
	}
	if model, weights, err = checkpoint.Load(from); err != nil {
		return from, model, nil, fmt.Errorf("loading the policy: %w", err)
	}
	if p.tokenizer, err = tokenizer.Load(from); err != nil {
		return from, model, nil, fmt.Errorf("loading the policy: %w", err)
	}
	if model.MaxPositionEmbeddings < c.Rollout.Limits.Context {
		err = fmt.Errorf("rollout.limits.context is %d: the policy in %s takes %d tokens", c.Rollout.Limits.Context, from, model.MaxPositionEmbeddings)
	}
	return from, model, weights, err
}

// policyDir is where the configured policy lies; the shipped one is unpacked, and a
// random one made, below dir.
func policyDir(c Config, dir string) (string, error) {
	if c.Policy.Checkpoint != "" {
		return c.Policy.Checkpoint, nil
	}
	if c.Policy.Random.Layers > 0 {
		random := filepath.Join(dir, "random")
		return random, randomPolicy(c, random)
	}
	return shippedPolicy(filepath.Join(dir, "warmstart"))
}

// loadTasks reads a task set; bad rows are an error, since a run must not
// silently train on less than it was given.
func loadTasks(file string) ([]schemas.Task, error) {
	if file == "" {
		return mine.Default()
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("opening the task set: %w", err)
	}
	defer f.Close()
	tasks, bad, err := mine.Read(file, f)
	for _, b := range bad {
		err = errors.Join(err, b)
	}
	return tasks, err
}

func (p *parts) openPolicy(ctx context.Context, c Config, env Environment, policyDir string, model kernels.Config, weights []kernels.Tensor, announce stage.Stream) error {
	hash, err := Hash(c)
	if err != nil {
		return err
	}
	trainer, err := p.openTrainer(c, model, weights)
	if err != nil {
		return err
	}
	handOver, err := p.openSampler(ctx, c, trainer)
	if err != nil {
		return err
	}
	err = p.openLearner(c, c.MaxDraws(), filepath.Join(env.Dir, checkpoints), hash, policyDir, trainer, weights, func(ctx context.Context, version int64, weights kernels.Weights, dir string) error {
		if err := handOver(ctx, version, weights, dir); err != nil {
			return err
		}
		return stage.Announce(ctx, announce, schemas.PolicyVersion{
			Run: c.RunName(), Version: version, Checkpoint: dir, Time: time.Now().UnixMicro(),
		})
	})
	if err != nil {
		return err
	}
	return p.learner.Announce(ctx)
}

// openSampler opens what rollouts sample from, and returns how it gets a version.
func (p *parts) openSampler(ctx context.Context, c Config, trainer kernels.Trainer) (learn.Publish, error) {
	if len(c.Policy.Endpoints) > 0 {
		return p.openServers(ctx, c, trainer.Config())
	}
	return p.openEngine(c, trainer.Config(), trainer.Weights())
}

// worker makes the agent for a temperature and the pool that runs it.
func (p *parts) worker(c Config, temperature float64, seed uint64, staleness int64) (*rollout.Worker, error) {
	sampling := c.Sampling()
	sampling.Temperature = temperature
	policy, err := p.policy(c)
	if err != nil {
		return nil, err
	}
	agent, err := rollout.NewAgent(policy, p.tokenizer, p.sandboxes, rollout.Config{
		Limits: c.Rollout.Limits, Prompt: c.Rollout.Prompt, Notices: c.Rollout.Notices, Tools: c.Rollout.Tools, SingleTurn: c.Rollout.SingleTurn,
		Sampling: sampling, Environments: environments, Seed: seed, Attempts: c.Rollout.Attempts,
	})
	if err != nil {
		return nil, err
	}
	worker, err := rollout.NewWorker(agent, c.RunName(), c.Rollout.Concurrency, staleness)
	if err == nil {
		p.workers = append(p.workers, worker)
	}
	return worker, err
}

// turns is the number of environment steps taken in this process.
func (p *parts) turns() (n int64) {
	for _, w := range p.workers {
		n += w.Turns()
	}
	return n
}

// Close closes the parts, the last opened first.
func (p *parts) Close() error {
	var errs []error
	for i := len(p.close) - 1; i >= 0; i-- {
		errs = append(errs, p.close[i]())
	}
	p.close = nil
	return errors.Join(errs...)
}

// Hash identifies the resolved configuration in the ledger.
func Hash(c Config) (string, error) {
	text, err := settings.Print(c.Resolved())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]), nil
}
