//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"millrace/transforms/sandbox/inside"
)

// Process makes sandboxes of Linux namespaces; see package inside for what a
// command sees. It needs no privileges but unprivileged user namespaces.
type Process struct {
	cfg      ProcessConfig
	run      *runDir
	launcher *launcher
	slots    *semaphore.Weighted
	overlay  bool
	procfs   bool
	asNobody bool

	next                                     atomic.Int64 // workspaces made
	execs, timeouts, failures, busy, waiting atomic.Int64 // what Stats tells; times in nanoseconds

	closing sync.Once
	closed  error
}

// NewProcess starts the process sandbox. It runs a command in it before it
// returns, and fails where the kernel refuses what that needs.
func NewProcess(cfg ProcessConfig) (*Process, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, fmt.Errorf("process sandbox: %w", err)
	}
	run, err := makeRunDir(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("process sandbox: %w", err)
	}
	launcher, err := startLauncher()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("process sandbox: %w", err), run.remove())
	}
	p := &Process{
		cfg: cfg, run: run, launcher: launcher,
		slots:    semaphore.NewWeighted(int64(cfg.Concurrency)),
		asNobody: os.Getuid() == 0,
	}
	if err := p.probe(); err != nil {
		return nil, errors.Join(fmt.Errorf("process sandbox needs unprivileged user namespaces: %w", err), p.Close())
	}
	return p, nil
}

// probeTimeout bounds a command that does nothing.
const probeTimeout = 30 * time.Second

// probe finds out what the kernel grants.
func (p *Process) probe() error {
	s, err := p.Open(context.Background(), "probe", Spec{})
	if err != nil {
		return err
	}
	defer s.Close()
	p.overlay = true
	r, err := s.Exec(context.Background(), "test -e /proc/self/stat && echo proc; : > \"$GOCACHE/probe\"", probeTimeout)
	if err != nil && strings.Contains(err.Error(), "overlay") {
		p.overlay = false
		r, err = s.Exec(context.Background(), "test -e /proc/self/stat && echo proc; : > \"$GOCACHE/probe\"", probeTimeout)
	}
	if err != nil {
		return err
	}
	if r.ExitCode != 0 {
		return fmt.Errorf("a first command failed with status %d: %s", r.ExitCode, r.Output)
	}
	p.procfs = r.Output == "proc\n"
	p.execs.Store(0)
	p.busy.Store(0)
	p.waiting.Store(0)
	return nil
}

// Open makes a workspace that holds the files of spec, which has no image.
func (p *Process) Open(ctx context.Context, label string, spec Spec) (Sandbox, error) {
	if spec.Image != "" {
		return nil, &Failure{Op: "opening workspace", Label: label, Err: fmt.Errorf("image %s needs the docker sandbox: %w", spec.Image, ErrUnsupported)}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fail := func(op string, err error) error { return &Failure{Op: op, Label: label, Err: err} }
	dir := filepath.Join(p.run.path, "workspaces", fmt.Sprint(p.next.Add(1)))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fail("making workspace", err)
	}
	owner := -1
	if p.asNobody {
		owner = inside.Nobody
	}
	w, err := openWorkspace(dir, owner, p.cfg.Limits)
	if err != nil {
		return nil, fail("opening workspace", errors.Join(err, os.RemoveAll(dir)))
	}
	w.opened = spec.Files
	for _, f := range spec.Files {
		if err := w.WriteFile(f.Path, []byte(f.Content)); err != nil {
			return nil, fail("writing workspace", errors.Join(fmt.Errorf("file %q: %w", f.Path, err), w.remove()))
		}
	}
	return &processSandbox{workspace: w, provider: p, label: label}, nil
}

// Describe says which protections are active.
func (p *Process) Describe() string {
	l := p.cfg.Limits
	user := "the caller's user without capabilities"
	if p.asNobody {
		user = "user nobody without capabilities"
	}
	cache := "warm under a private overlay"
	if !p.overlay {
		cache = "empty for each command (the kernel refuses overlay mounts)"
	}
	procfs := "own /proc"
	if !p.procfs {
		procfs = "no /proc (the host hides parts of its own)"
	}
	return fmt.Sprintf("process sandbox: own user, mount, pid, network, ipc, uts and cgroup namespaces; private read-only root, %s; "+
		"%s, no_new_privs, system call filter; per process %d MiB data, %d MiB address space, %d s CPU, files of %d MiB; "+
		"%d processes, %d MiB /tmp; no limit on the memory of all processes together; Go build cache %s; %d at a time",
		procfs, user, l.Data>>20, l.AddressSpace>>20, l.CPUSeconds, l.FileBytes>>20, l.Processes, l.TmpBytes>>20, cache, p.cfg.Concurrency)
}

// Fingerprint names everything besides files and command that a deterministic
// command's result depends on.
func (p *Process) Fingerprint() string {
	version, err := os.ReadFile(filepath.Join(p.cfg.GOROOT, "VERSION"))
	if err != nil {
		version = []byte("no toolchain")
	}
	return fmt.Sprintf("process %s %q %+v", version, p.cfg.Env, p.cfg.Limits)
}

// Stats returns the counters.
func (p *Process) Stats() Stats {
	return Stats{
		Execs: p.execs.Load(), Timeouts: p.timeouts.Load(), Failures: p.failures.Load(),
		Busy: time.Duration(p.busy.Load()), Waited: time.Duration(p.waiting.Load()),
	}
}

// Close kills what still runs and removes all workspaces.
func (p *Process) Close() error {
	p.closing.Do(func() { p.closed = errors.Join(p.launcher.close(), p.run.remove()) })
	return p.closed
}

// exec runs command in the workspace dir, when its turn has come.
func (p *Process) exec(ctx context.Context, dir, command string, timeout time.Duration) (Result, error) {
	queued := time.Now()
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return Result{}, err
	}
	defer p.slots.Release(1)
	p.waiting.Add(int64(time.Since(queued)))
	l := p.cfg.Limits
	job := &inside.Job{
		Root: filepath.Join(p.run.path, "root"), Workspace: dir, Command: command, Env: p.cfg.Env,
		ReadOnly: p.readOnly(), Cache: p.cfg.Cache, Overlay: p.overlay, SwitchUser: p.asNobody,
		Limits: inside.Limits{
			AddressSpace: l.AddressSpace, Data: l.Data, CPUSeconds: l.CPUSeconds, FileBytes: l.FileBytes,
			OpenFiles: l.OpenFiles, Processes: l.Processes, TmpBytes: l.TmpBytes,
		},
	}
	if info, err := os.Stat(job.Cache); err != nil || !info.IsDir() {
		job.Cache = ""
	}
	out := NewOutput(l.OutputBytes)
	o, err := p.launcher.run(ctx, job, timeout, out)
	p.execs.Add(1)
	p.busy.Add(int64(o.elapsed))
	r := Result{ExitCode: o.code, TimedOut: o.killed, Duration: o.elapsed}
	r.Output, r.Truncated = out.Text()
	switch {
	case ctx.Err() != nil && o.killed:
		return Result{}, ctx.Err()
	case o.killed:
		p.timeouts.Add(1)
		return r, nil
	case err != nil:
		p.failures.Add(1)
		return Result{}, err
	case o.code < 0 && o.started:
		r.ExitCode = killedCode // by the command's own doing, such as memory that the kernel took back
	case o.code < 0:
		p.failures.Add(1)
		return Result{}, errors.New("init died before the command ran")
	}
	return r, nil
}

// killedCode is a shell's exit status for a command ended by SIGKILL.
const killedCode = 128 + 9

// readOnly lists what a command sees of the host.
func (p *Process) readOnly() []string {
	paths := []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}
	if root := p.cfg.GOROOT; root != "" && !strings.HasPrefix(root, "/usr/") {
		paths = append(paths, root)
	}
	return paths
}

type processSandbox struct {
	*workspace
	provider *Process
	label    string
	closing  sync.Once
	closed   error
}

func (s *processSandbox) Exec(ctx context.Context, command string, timeout time.Duration) (Result, error) {
	if strings.ContainsRune(command, 0) {
		return Result{Output: "sh: the command holds a NUL byte\n", ExitCode: 127}, nil
	}
	r, err := s.provider.exec(ctx, s.dir, command, timeout)
	if err != nil && ctx.Err() == nil {
		err = &Failure{Op: "running a command", Label: s.label, Err: err}
	}
	return r, err
}

func (s *processSandbox) Close() error {
	s.closing.Do(func() { s.closed = s.remove() })
	return s.closed
}
