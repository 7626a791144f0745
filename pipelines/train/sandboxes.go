package train

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/sandbox/docker"
	"millrace/transforms/score"
)

// SandboxConfig are the limits of the sandboxes, for agents and scoring. Tasks
// that are given by their files run in the process sandbox, those with an image
// in containers.
type SandboxConfig struct {
	// CPUSeconds bounds the CPU time of each process of the process sandbox. A
	// change that makes a test loop for ever is cut by it, whatever else the
	// machine does, so its result is as good as any other.
	CPUSeconds uint64 `yaml:"cpu_seconds"`
	// MemoryMiB bounds the heap of each such process.
	MemoryMiB uint64 `yaml:"memory_mib"`
	// Commands is the number of commands that run in process sandboxes at once; 0
	// is one for each CPU.
	Commands int `yaml:"commands"`
	// Docker are the settings of containers. Where docker.image is set, tasks
	// without an image run in a container of that one.
	Docker docker.Config `yaml:"docker"`
}

// Process is the process sandbox that the settings describe, over a warm build
// cache.
func (c SandboxConfig) Process(cache string) sandbox.ProcessConfig {
	limits := sandbox.DefaultLimits()
	limits.CPUSeconds, limits.Data = c.CPUSeconds, c.MemoryMiB<<20
	return sandbox.ProcessConfig{Cache: cache, Concurrency: c.Commands, Limits: limits}
}

// GoTest matches the commands whose output is a function of the workspace: one
// go test without a pipe, a list or a redirection.
var GoTest = regexp.MustCompile(`^\s*go test( [A-Za-z0-9_./=^$-]+)*\s*$`)

// openSandboxes makes the sandboxes of agents and the scorer's. The scorer's are
// fresh: they know no recorded result of a command.
func (p *parts) openSandboxes(c Config, dir, goCache string) error {
	settings := c.Sandbox.Docker
	settings.Run = c.RunName()
	containers, err := docker.NewLater(settings)
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	p.containers = containers
	p.close = append(p.close, containers.Close)
	files, recorded, environment, err := p.openFiles(c, dir, goCache)
	if err != nil {
		return err
	}
	p.sandboxes = sandbox.ByImage(containers, recorded)
	scoring := score.DefaultConfig()
	scoring.TestTimeout, scoring.Attempts = c.Score.TestTimeout, c.Score.Attempts
	scoring.Environment, scoring.Compat = environment, c.Score.Compat
	scoring.CacheFile = filepath.Join(dir, "scores.cache")
	p.fresh = sandbox.ByImage(containers, files)
	tests, err := score.NewScorer(scoring, p.fresh)
	if err != nil {
		return err
	}
	p.close = append(p.close, tests.Close)
	p.verdict = score.Verdict{Goals: score.Replay{Environments: environments}, Tests: tests}
	p.reward, err = c.rewarder(p.verdict)
	return err
}

// openFiles makes the sandboxes of tasks that are given by their files: fresh
// ones, and ones that know the results of equal commands.
func (p *parts) openFiles(c Config, dir, goCache string) (fresh, recorded sandbox.Provider, environment string, err error) {
	if image := c.Sandbox.Docker.Image; image != "" {
		return p.containers, p.containers, "image " + image, nil
	}
	if !c.Tasks.InSandboxes() {
		return nowhere{}, nowhere{}, "", nil
	}
	if p.process, err = sandbox.NewProcess(c.Sandbox.Process(goCache)); err != nil {
		return nil, nil, "", err
	}
	p.close = append(p.close, p.process.Close)
	store, err := sandbox.NewStore(filepath.Join(dir, "commands.cache"), 1<<16)
	if err != nil {
		return nil, nil, "", err
	}
	p.close = append(p.close, store.Close)
	return p.process, sandbox.NewMemo(p.process, store, GoTest.MatchString), p.process.Fingerprint(), nil
}

// readyFor connects to the container daemon if a task needs it: better now than
// with the first rollout.
func (p *parts) readyFor(ctx context.Context, tasks []schemas.Task) error {
	if !slices.ContainsFunc(tasks, func(t schemas.Task) bool { return t.Image != "" }) {
		return nil
	}
	_, err := p.containers.Ready(ctx)
	return err
}

// stats are the counters of all sandboxes.
func (p *parts) stats() sandbox.Stats {
	s := p.containers.Stats()
	if p.process == nil {
		return s
	}
	q := p.process.Stats()
	return sandbox.Stats{
		Execs: s.Execs + q.Execs, Timeouts: s.Timeouts + q.Timeouts, Failures: s.Failures + q.Failures,
		Busy: s.Busy + q.Busy, Waited: s.Waited + q.Waited,
	}
}
