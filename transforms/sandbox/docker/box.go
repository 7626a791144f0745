package docker

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// box is one opened sandbox.
type box struct {
	*instance
	image   *readyImage
	birth   birth
	files   []schemas.File
	closing sync.Once
	closed  error
}

// The disk is looked at first after watchFirst and then every watchEvery: what a
// command can write meanwhile is the disk's speed times that.
const (
	watchFirst = time.Second
	watchEvery = 2 * time.Second
)

// stopTime bounds what ends a command at its deadline.
const stopTime = time.Minute

func (s *box) Exec(ctx context.Context, command string, timeout time.Duration) (sandbox.Result, error) {
	if strings.ContainsRune(command, 0) {
		return sandbox.Result{Output: "sh: the command holds a NUL byte\n", ExitCode: 127}, nil
	}
	r, err := s.exec(ctx, command, timeout)
	s.provider.count(r, err)
	return r, failure(ctx, "running a command", s.label, err)
}

// count adds a command to the counters.
func (p *Provider) count(r sandbox.Result, err error) {
	p.execs.Add(1)
	p.busy.Add(int64(r.Duration))
	switch {
	case err != nil:
		p.failures.Add(1)
	case r.TimedOut:
		p.timeouts.Add(1)
	}
}

func (s *box) exec(ctx context.Context, command string, timeout time.Duration) (sandbox.Result, error) {
	started := time.Now()
	out := sandbox.NewOutput(s.provider.cfg.Limits.OutputBytes)
	// The subshell keeps the shell's own word of a killed child out of the output.
	script := fmt.Sprintf("cd -- %s 2>/dev/null || cd /\n(exec /bin/sh -c %s </dev/null 2>&1)", sandbox.Quote(s.root), sandbox.Quote(command))
	under, err := s.shell.begin(script, out)
	if err != nil {
		return sandbox.Result{}, s.died(ctx, err)
	}
	var r sandbox.Result
	status, err := s.await(ctx, under, timeout, &r)
	if err != nil {
		return sandbox.Result{}, err
	}
	r.ExitCode = status
	if r.TimedOut {
		r.ExitCode = -1
	}
	if status != 0 && !r.TimedOut && !r.DiskFull {
		if r.OutOfMemory, err = s.newlyKilled(ctx); err != nil {
			return sandbox.Result{}, s.died(ctx, err)
		}
	}
	r.Output, r.Truncated = out.Text()
	r.Duration = time.Since(started)
	return r, nil
}

// await waits for a command and ends it when it has to be: at its deadline, with
// the context, or when it has filled its disk.
func (s *box) await(ctx context.Context, under *call, timeout time.Duration, r *sandbox.Result) (int, error) {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	watch := time.NewTimer(watchFirst)
	defer watch.Stop()
	for {
		select {
		case <-under.ended:
			return under.marks.status, nil
		case <-s.shell.gone:
			return 0, s.died(ctx, fmt.Errorf("%w: %s", errShellGone, s.shell.said()))
		case <-watch.C:
			full, err := s.overfull(ctx)
			if err != nil && ctx.Err() == nil {
				return 0, fmt.Errorf("measuring the container's disk: %w", err)
			}
			if !full {
				watch.Reset(watchEvery)
				continue
			}
			r.DiskFull = true
		case <-deadline.C:
			r.TimedOut = true
		case <-ctx.Done():
		}
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if err := s.stop(stopping, under); err != nil {
			return 0, err
		}
		return killedStatus, ctx.Err()
	}
}

// killedStatus is a shell's exit status for a command ended by SIGKILL.
const killedStatus = 128 + 9

// ImageDigest identifies the content of the task's image.
func (s *box) ImageDigest() string { return s.image.digest }

// Close removes the container.
func (s *box) Close() error {
	s.closing.Do(func() {
		s.closed = s.close()
		s.provider.images.release(s.image)
		s.provider.places.Release(1)
	})
	return s.closed
}

// fill writes the files of the spec over the workspace.
func (s *box) fill(ctx context.Context, files []schemas.File) error {
	if len(files) == 0 {
		return nil
	}
	if err := s.writeAll(ctx, files); err != nil {
		return fmt.Errorf("writing the workspace: %w", err)
	}
	return nil
}

var _ interface {
	sandbox.Sandbox
	sandbox.Searcher
} = (*box)(nil)

var _ interface {
	sandbox.Provider
	sandbox.Preparer
} = (*Provider)(nil)
