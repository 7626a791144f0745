package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/transforms/sandbox"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-units"
)

// instance is one running container and the shell in it.
type instance struct {
	provider *Provider
	id       string
	label    string
	shell    *shell
	workdir  string // as the spec has it
	root     string // the workdir's real path
	killed   int64  // processes that the kernel has killed for memory
}

// birth is what a container is made with.
type birth struct {
	image   string // id
	env     []string
	network bool
	workdir string
}

func (b birth) key() string { return fmt.Sprintf("%q", []any{b.image, b.env, b.network, b.workdir}) }

// launch makes and starts a container.
func (p *Provider) launch(ctx context.Context, label string, b birth) (_ *instance, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.StartTime)
	defer cancel()
	created, err := p.create(ctx, label, b)
	if err != nil {
		return nil, err
	}
	c := &instance{provider: p, id: created, label: label, workdir: b.workdir}
	if err := c.start(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w within %v: %w", ErrStart, p.cfg.StartTime, err)
		}
		p.remove(created)
		return nil, err
	}
	return c, nil
}

// create makes a container that is not started.
func (p *Provider) create(ctx context.Context, label string, b birth) (string, error) {
	l := p.cfg.Limits
	config := &container.Config{
		Image: b.image, Entrypoint: []string{"/bin/sh"}, Cmd: []string{}, WorkingDir: "/", Env: b.env,
		OpenStdin: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		Hostname: "sandbox", NetworkDisabled: !b.network, StopSignal: "SIGKILL",
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels:      p.labels(label),
	}
	host := &container.HostConfig{
		NetworkMode: "none", CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
		LogConfig: container.LogConfig{Type: "none"}, IpcMode: "private", RestartPolicy: container.RestartPolicy{Name: "no"},
		Resources: container.Resources{
			Memory: l.MemoryBytes, MemorySwap: l.MemoryBytes, NanoCPUs: int64(min(l.CPUs, float64(p.cpus)) * 1e9), PidsLimit: &l.Processes,
			Ulimits: []*units.Ulimit{
				{Name: "nofile", Soft: l.OpenFiles, Hard: l.OpenFiles},
				{Name: "fsize", Soft: l.FileBytes, Hard: l.FileBytes},
				{Name: "core", Soft: 0, Hard: 0},
			},
		},
	}
	if b.network {
		host.NetworkMode = "default"
	}
	if p.quota.Load() {
		host.StorageOpt = map[string]string{"size": strconv.FormatInt(l.DiskBytes, 10)}
	}
	created, err := p.api.ContainerCreate(ctx, config, host, nil, nil, "")
	if err != nil && p.quota.Load() && strings.Contains(err.Error(), "storage-opt") {
		p.quota.Store(false) // the storage has none: commands are watched instead
		host.StorageOpt = nil
		created, err = p.api.ContainerCreate(ctx, config, host, nil, nil, "")
	}
	if err != nil {
		return "", fmt.Errorf("making a container: %w", err)
	}
	return created.ID, nil
}

// start starts the container, for the first time or again, and gives its shell
// the prelude.
func (c *instance) start(ctx context.Context) error {
	conn, err := c.provider.api.ContainerAttach(ctx, c.id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("attaching to the container: %w", err)
	}
	c.shell = openShell(conn)
	if err := c.provider.api.ContainerStart(ctx, c.id, container.StartOptions{}); err != nil {
		c.shell.close()
		return fmt.Errorf("%w: %w", ErrStart, err)
	}
	var out bytes.Buffer
	if _, err := c.shell.run(ctx, prelude+"_locate "+sandbox.Quote(c.workdir), &out); err != nil {
		return fmt.Errorf("%w: first command of its shell: %w", ErrStart, err)
	}
	found, ok := bytes.CutPrefix(out.Bytes(), []byte("d"))
	if !ok {
		return fmt.Errorf("%w: the image has no directory %s", ErrStart, c.workdir)
	}
	c.root = string(bytes.TrimSuffix(found, []byte{0}))
	c.killed = 0
	return nil
}

// restart kills everything in the container, the shell too, and starts it
// again. What it wrote stays.
func (c *instance) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.provider.cfg.StartTime)
	defer cancel()
	state, _, err := c.provider.api.ContainerInspectWithRaw(ctx, c.id, false)
	if err != nil {
		return err
	}
	if state.State.Running {
		if err := c.provider.api.ContainerKill(ctx, c.id, "SIGKILL"); err != nil {
			return fmt.Errorf("killing the container: %w", err)
		}
	}
	select {
	case <-c.shell.gone:
	case <-ctx.Done():
		return fmt.Errorf("%w: waiting for its end: %w", ErrStart, ctx.Err())
	}
	c.shell.close()
	return c.start(ctx)
}

// softKill is how long killed processes have to be gone, before the container
// is started again.
const softKill = 3 * time.Second

// stop ends the call under way with everything that runs.
func (c *instance) stop(ctx context.Context, under *call) error {
	soft, cancel := context.WithTimeout(ctx, softKill)
	defer cancel()
	if c.killAll(soft) == nil {
		if _, err := c.shell.wait(soft, under); err == nil {
			return nil
		}
	}
	// No process could be made in a container that is full of them, or what runs
	// cannot die: the daemon ends it from outside.
	return c.restart(ctx)
}

// killAll kills all processes but the shell.
func (c *instance) killAll(ctx context.Context) error {
	api := c.provider.api
	exec, err := api.ContainerExecCreate(ctx, c.id, container.ExecOptions{Cmd: []string{"/bin/sh", "-c", "kill -9 -1"}})
	if err != nil {
		return err
	}
	return api.ContainerExecStart(ctx, exec.ID, container.ExecStartOptions{Detach: true})
}

// died says why a container's shell is gone.
func (c *instance) died(ctx context.Context, err error) error {
	state, _, inspectErr := c.provider.api.ContainerInspectWithRaw(ctx, c.id, false)
	switch {
	case inspectErr != nil:
		return errors.Join(err, inspectErr)
	case state.State.OOMKilled:
		return fmt.Errorf("%w of %d bytes: %w", ErrOutOfMemory, c.provider.cfg.Limits.MemoryBytes, err)
	}
	return fmt.Errorf("%w: exit status %d: %w", ErrContainerGone, state.State.ExitCode, err)
}

// newlyKilled tells whether the kernel has killed a process for memory since it
// was asked last. Without such a counter it has not.
func (c *instance) newlyKilled(ctx context.Context) (bool, error) {
	var out bytes.Buffer
	if _, err := c.shell.run(ctx, "_oom", &out); err != nil {
		return false, err
	}
	n, err := strconv.ParseInt(out.String(), 10, 64)
	if err != nil {
		return false, nil
	}
	before := c.killed
	c.killed = n
	return n > before, nil
}

// overfull tells whether the container has written more than it may.
func (c *instance) overfull(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.provider.cfg.CallTime)
	defer cancel()
	state, _, err := c.provider.api.ContainerInspectWithRaw(ctx, c.id, true)
	if err != nil {
		return false, err
	}
	return state.SizeRw != nil && *state.SizeRw > c.provider.cfg.Limits.DiskBytes, nil
}

// close removes the container.
func (c *instance) close() error {
	c.shell.close()
	return c.provider.remove(c.id)
}

// remove removes a container with its volumes, running or not. One that is gone
// or going is removed.
func (p *Provider) remove(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.CallTime)
	defer cancel()
	return ignoreGone(p.api.ContainerRemove(ctx, id, container.RemoveOptions{RemoveVolumes: true, Force: true}))
}

func sortedEnv(env []string) []string {
	env = slices.Clone(env)
	slices.Sort(env)
	return env
}
