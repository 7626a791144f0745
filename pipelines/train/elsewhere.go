package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/cpu"
	"millrace/kernels/tokenizer"
	"millrace/pipelines/stage"
	"millrace/transforms/sandbox"
)

const makersName = "train"

func init() {
	stage.RegisterMakers(makersName, stage.Makers{Scorer: makeScorer, Rollout: makeRollout})
}

// elsewhere is what a worker on another machine is told of the run.
type elsewhere struct {
	// Config is the run's, without how its brokers are reached.
	Config Config
	// Policy is the directory of the starting policy; empty where nothing is rolled
	// out. It and the run's checkpoints are on storage that all machines share, under
	// the same path.
	Policy string
}

// startElsewhere starts score and rollout on the cluster.
func (r *run) startElsewhere(ctx context.Context, jobs *stage.Jobs) error {
	settings, err := settingsElsewhere(r.Config, r.parts.policyDir)
	if err != nil {
		return err
	}
	s := r.stream
	s.Poll = r.Flink.Poll
	s.Job = r.RunName() + ".score"
	p, err := stage.ScoreWith(s, settings, r.scoring())
	if err != nil {
		return err
	}
	if err := jobs.Add(ctx, r.Cluster, s.Job, p, func() {}); err != nil {
		return err
	}
	s.Job = r.RunName() + ".rollout"
	if p, err = stage.RolloutWith(s, settings, r.Groups); err != nil {
		return err
	}
	return jobs.Add(ctx, r.Cluster, s.Job, p, func() {})
}

func settingsElsewhere(c Config, policyDir string) (stage.Settings, error) {
	if policyDir != "" {
		absolute, err := filepath.Abs(policyDir)
		if err != nil {
			return stage.Settings{}, fmt.Errorf("naming the policy for other machines: %w", err)
		}
		policyDir = absolute
	}
	c.Kafka = KafkaConfig{}
	text, err := json.Marshal(elsewhere{Config: c, Policy: policyDir})
	if err != nil {
		return stage.Settings{}, fmt.Errorf("writing the configuration for other machines: %w", err)
	}
	return stage.Settings{Maker: makersName, Text: text}, nil
}

// runner is what runs the stages between orders and samples.
func (r *run) runner() stage.Start {
	if r.Cluster != nil {
		return r.Cluster
	}
	return r.Start
}

// stagesHere are the stages that this process counts for.
func (r *run) stagesHere() []Watched {
	if r.Cluster != nil {
		return []Watched{{"learn", 0}}
	}
	return []Watched{{"rollout", r.Groups}, {"score", r.scoring()}, {"advantage", 0}, {"learn", 0}}
}

// openElsewhere makes the parts that both kinds of worker need: sandboxes, and
// caches in a directory of this process alone.
func openElsewhere(ctx context.Context, text []byte) (e elsewhere, p *parts, err error) {
	p = &parts{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if err := json.Unmarshal(text, &e); err != nil {
		return e, p, fmt.Errorf("reading the run's configuration: %w", err)
	}
	dir, err := os.MkdirTemp("", "millrace-run-*")
	if err != nil {
		return e, p, fmt.Errorf("making a directory for the worker's caches: %w", err)
	}
	p.close = append(p.close, func() error { return os.RemoveAll(dir) })
	base, err := os.UserCacheDir()
	if err != nil {
		return e, p, fmt.Errorf("finding a place for the sandboxes' build cache: %w", err)
	}
	cache := filepath.Join(base, "millrace", "go-build")
	if err := (sandbox.ProcessConfig{Cache: cache}).Warm(ctx); err != nil {
		return e, p, err
	}
	return e, p, p.openSandboxes(e.Config, dir, cache)
}

func makeScorer(ctx context.Context, text []byte) (stage.Scorer, func() error, error) {
	_, p, err := openElsewhere(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	return p.reward, p.Close, nil
}

// makeRollout makes an agent at the starting policy; the stage brings it up to
// the newest.
func makeRollout(ctx context.Context, text []byte) (_ stage.RolloutParts, err error) {
	e, p, err := openElsewhere(ctx, text)
	if err != nil {
		return stage.RolloutParts{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	model, weights, err := checkpoint.Load(e.Policy)
	if err != nil {
		return stage.RolloutParts{}, fmt.Errorf("loading the policy: %w", err)
	}
	if p.tokenizer, err = tokenizer.Load(e.Policy); err != nil {
		return stage.RolloutParts{}, fmt.Errorf("loading the policy: %w", err)
	}
	generator, err := cpu.NewGenerator(model, weights, 0, cpu.Options{PrefillTokens: e.Config.Policy.Engine.PrefillTokens})
	if err != nil {
		return stage.RolloutParts{}, err
	}
	p.generator = generator
	p.close = append(p.close, generator.Close)
	worker, err := p.worker(e.Config, e.Config.Rollout.Temperature, e.Config.Seed, e.Config.MaxStaleness)
	if err != nil {
		return stage.RolloutParts{}, err
	}
	publish := func(version int64, weights []kernels.Tensor) error {
		return generator.Publish(version, kernels.Tensors(weights))
	}
	return stage.RolloutParts{Worker: worker, Run: e.Config.RunName(), Publish: publish, Release: p.Close}, nil
}
