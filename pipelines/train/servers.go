package train

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/devices"
	"millrace/kernels/tokenizer"
	"millrace/transforms/learn"
	"millrace/transforms/rollout"
	"millrace/transforms/rollout/remote"
)

// sampler is what rollouts sample from: the engine in this process or servers. The
// names are those of kernels.MeteredGenerator, which is one.
type sampler interface {
	Version() int64
	Stats() kernels.GeneratorStats
	Close() error
}

// servers is the policy on servers as a sampler.
type servers struct{ *remote.Policy }

// Stats are those of the requests; a server's ticks are not seen from here.
func (s servers) Stats() kernels.GeneratorStats {
	stats := s.Policy.Stats()
	return kernels.GeneratorStats{Generated: stats.Sampled, Prefilled: stats.Prompted, Busy: stats.Busy, Active: stats.Active}
}

// defaultPolicy has an empty list and not none, as a printed configuration reads
// back.
func defaultPolicy() PolicyConfig {
	d := remote.Default()
	return PolicyConfig{Random: defaultRandomPolicy(), Endpoints: []string{}, InFlight: d.InFlight, RequestTime: d.RequestTime, HandOverTime: d.HandOverTime}
}

// remote returns the settings of the client.
func (c PolicyConfig) remote() remote.Config {
	out := remote.Default()
	out.Endpoints, out.Dialect, out.Model = c.Endpoints, c.Dialect, c.Model
	out.APIKeyEnv, out.APIKeyFile, out.Evaluation = c.APIKeyEnv, c.APIKeyFile, c.Evaluation
	out.InFlight, out.RequestTime, out.HandOverTime = c.InFlight, c.RequestTime, c.HandOverTime
	return out
}

// Validate reports what is wrong with the engine's settings, and with how servers are used
// by a runner.
func (c PolicyConfig) Validate(runner string) error {
	if c.Engine.PrefillTokens < 0 {
		return fmt.Errorf("engine.prefill_tokens is %d: must not be negative", c.Engine.PrefillTokens)
	}
	if len(c.Endpoints) == 0 {
		if c.Evaluation || c.Dialect+c.Model+c.APIKeyEnv+c.APIKeyFile+c.Checkpoints != "" {
			return errors.New("endpoints is empty: dialect, model, api_key_env, api_key_file, evaluation and checkpoints would do nothing")
		}
		return nil
	}
	err := c.remote().Validate()
	if runner == Flink {
		err = errors.Join(err, fmt.Errorf("endpoints are used by runner %s alone: workers of a cluster have the engine in their process", Embedded))
	}
	return err
}

// seenAs is a checkpoint's directory as the servers see it.
func (c PolicyConfig) seenAs(dir string) (string, error) {
	if c.Checkpoints != "" {
		return filepath.Join(c.Checkpoints, filepath.Base(dir)), nil
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("naming the checkpoint for the servers: %w", err)
	}
	return absolute, nil
}

// connect opens the policy on servers.
func (p *parts) connect(ctx context.Context, c Config, model kernels.Config, asServed bool) error {
	config := c.Policy.remote()
	config.Run, config.Vocabulary, config.AsServed = c.RunName(), model.VocabSize, asServed
	config.Tokenizer = p.tokenizer
	policy, err := remote.Open(ctx, config)
	if err != nil {
		return fmt.Errorf("policy.endpoints: %w", err)
	}
	p.generator = servers{policy}
	p.close = append(p.close, policy.Close)
	if length := policy.Context(); length > 0 && length < c.Rollout.Limits.Context {
		return fmt.Errorf("rollout.limits.context is %d: the servers take %d tokens", c.Rollout.Limits.Context, length)
	}
	return nil
}

// openServers opens the policy on servers and returns how versions are handed over.
func (p *parts) openServers(ctx context.Context, c Config, model kernels.Config) (learn.Publish, error) {
	if c.Policy.Evaluation {
		return nil, errors.New("policy.evaluation is for jobs that train nothing")
	}
	if err := p.connect(ctx, c, model, false); err != nil {
		return nil, err
	}
	policy := p.generator.(servers)
	return func(ctx context.Context, version int64, _ kernels.Weights, dir string) error {
		seen, err := c.Policy.seenAs(dir)
		if err != nil {
			return err
		}
		return policy.Publish(ctx, version, seen)
	}, nil
}

// openServed opens the policy on servers that hold it already, as version 0. Of
// the checkpoint only the tokenizer and the configuration are read: the weights
// may be larger than this machine.
func (p *parts) openServed(ctx context.Context, c Config, dir string) (err error) {
	if p.policyDir, err = policyDir(c, dir); err != nil {
		return err
	}
	model, err := checkpoint.ReadConfig(p.policyDir)
	if err != nil {
		return fmt.Errorf("loading the policy's configuration: %w", err)
	}
	if p.tokenizer, err = tokenizer.Load(p.policyDir); err != nil {
		return fmt.Errorf("loading the policy's tokenizer: %w", err)
	}
	return p.connect(ctx, c, model, true)
}

// openEngine opens the engine in this process, on the device that is open.
func (p *parts) openEngine(c Config, model kernels.Config, weights kernels.Weights) (learn.Publish, error) {
	generator, err := p.device.NewGenerator(model, weights, 0, devices.Engine{
		PrefillTokens: c.Policy.Engine.PrefillTokens, Sequences: c.Rollout.Concurrency, CacheBytes: c.Policy.Engine.CacheBytes,
	})
	if err != nil {
		return nil, err
	}
	p.generator = generator
	p.close = append(p.close, generator.Close)
	return func(_ context.Context, version int64, weights kernels.Weights, _ string) error {
		return generator.Publish(version, weights)
	}, nil
}

// policy is the sampler as the agent uses it. A pipeline whose sampler is the engine
// although the settings name servers would not do what they say.
func (p *parts) policy(c Config) (rollout.Policy, error) {
	switch s := p.generator.(type) {
	case servers:
		return s, nil
	case kernels.Generator:
		if len(c.Policy.Endpoints) > 0 {
			return nil, errors.New("policy.endpoints: this command samples from the engine in its process alone")
		}
		return rollout.Engine(s), nil
	}
	return nil, errors.New("no policy is open")
}
