package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/api/types/system"
	"golang.org/x/sync/semaphore"

	"millrace/transforms/sandbox"
)

// Provider makes sandboxes of containers. It is safe for concurrent use.
type Provider struct {
	cfg    Config
	api    engine
	cpus   int
	daemon string // what it says of itself, for Describe
	quota  atomic.Bool
	owner  *owner
	places *semaphore.Weighted
	images *images
	pool   *pool

	execs, timeouts, failures, busy, waited atomic.Int64 // what Stats tells; times in nanoseconds

	// ctx ends with Close; work begins in the background only while it lives.
	ctx     context.Context
	cancel  context.CancelFunc
	begin   sync.Mutex // guards working against what begins while Close waits
	working sync.WaitGroup
	closing sync.Once
	closed  error
}

// New connects to the daemon and removes what dead providers of the same run or
// host left there.
func New(ctx context.Context, cfg Config) (*Provider, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, fmt.Errorf("docker sandbox: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.CallTime)
	defer cancel()
	api, info, err := connect(ctx, cfg.Host)
	if err != nil {
		return nil, fmt.Errorf("docker sandbox: %w", err)
	}
	if info.OSType != "linux" {
		api.Close()
		return nil, fmt.Errorf("docker sandbox needs Linux containers, this daemon has %s", info.OSType)
	}
	owner, err := newOwner()
	if err != nil {
		api.Close()
		return nil, fmt.Errorf("docker sandbox: %w", err)
	}
	p := &Provider{
		cfg: cfg, api: api, cpus: info.NCPU, owner: owner,
		daemon: fmt.Sprintf("docker %s, %s, cgroup v%s", info.ServerVersion, info.Driver, info.CgroupVersion),
		places: semaphore.NewWeighted(int64(cfg.Containers)),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.quota.Store(mayHaveQuota(info))
	p.images = newImages(p)
	p.pool = newPool(p)
	if err := p.sweep(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("docker sandbox: %w", err), p.Close())
	}
	return p, nil
}

// mayHaveQuota tells whether the daemon's storage can bound a container's disk.
// Overlays can on XFS mounted with project quotas; whether it is, the first
// container tells.
func mayHaveQuota(info system.Info) bool {
	if info.Driver != "overlay2" {
		return info.Driver == "btrfs" || info.Driver == "zfs"
	}
	return slices.Contains(info.DriverStatus, [2]string{"Backing Filesystem", "xfs"})
}

// Describe says which protections are active.
func (p *Provider) Describe() string {
	l := p.cfg.Limits
	disk := "by quota"
	if !p.quota.Load() {
		disk = "watched while a command runs"
	}
	return fmt.Sprintf("docker sandbox (%s): no network unless the task asks, no capabilities, no new privileges, the daemon's system call filter; "+
		"a container has %d MiB memory, %g CPUs, %d processes, %d MiB of disk (%s), files of %d MiB; %d containers at a time, %d kept warm",
		p.daemon, l.MemoryBytes>>20, l.CPUs, l.Processes, l.DiskBytes>>20, disk, l.FileBytes>>20, p.cfg.Containers, max(p.cfg.Warm, 0))
}

// Open makes a container of the spec, or takes one that waits.
func (p *Provider) Open(ctx context.Context, label string, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if spec.Image == "" {
		spec.Image = p.cfg.Image
	}
	if spec.Image == "" {
		return nil, failure(ctx, "opening workspace", label, fmt.Errorf("the task has no image, and docker.image is not set: %w", sandbox.ErrUnsupported))
	}
	queued := time.Now()
	if err := p.places.Acquire(ctx, 1); err != nil {
		return nil, failure(ctx, "waiting for a place", label, err)
	}
	p.waited.Add(int64(time.Since(queued)))
	box, err := p.open(ctx, label, spec)
	if err != nil {
		p.failures.Add(1)
		p.places.Release(1)
		return nil, failure(ctx, "opening a container of "+spec.Image, label, err)
	}
	return box, nil
}

func (p *Provider) open(ctx context.Context, label string, spec sandbox.Spec) (*box, error) {
	image, err := p.images.ready(ctx, spec)
	if err != nil {
		return nil, err
	}
	b := birthOf(image, spec)
	c := p.pool.take(b)
	if c == nil {
		if c, err = p.launch(ctx, label, b); err != nil {
			p.images.forget(image, err)
			return nil, err
		}
	}
	c.label = label
	s := &box{instance: c, image: image, birth: b, files: spec.Files}
	if err := s.fill(ctx, spec.Files); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return s, nil
}

func birthOf(image *readyImage, spec sandbox.Spec) birth {
	b := birth{image: image.id, env: sortedEnv(spec.Env), network: spec.Network, workdir: spec.Workdir}
	if b.workdir == "" {
		b.workdir = sandbox.Root
	}
	return b
}

// Stats returns the counters. Waited is the time that sandboxes waited for a
// place, Failures those that could not be opened or used.
func (p *Provider) Stats() sandbox.Stats {
	return sandbox.Stats{
		Execs: p.execs.Load(), Timeouts: p.timeouts.Load(), Failures: p.failures.Load(),
		Busy: time.Duration(p.busy.Load()), Waited: time.Duration(p.waited.Load()),
	}
}

// Prepare pulls the image, runs its setup and starts containers, as many as may
// be kept warm.
func (p *Provider) Prepare(spec sandbox.Spec, n int) {
	if spec.Image == "" {
		spec.Image = p.cfg.Image
	}
	p.begin.Lock()
	defer p.begin.Unlock()
	if spec.Image == "" || p.ctx.Err() != nil {
		return
	}
	p.working.Go(func() {
		image, err := p.images.ready(p.ctx, spec)
		if err != nil {
			return // Open meets the same and tells
		}
		defer p.images.release(image)
		p.pool.fill(birthOf(image, spec), n)
	})
}

// Close removes every container that was made. Sandboxes must be closed before.
func (p *Provider) Close() error {
	p.closing.Do(func() {
		p.begin.Lock()
		p.cancel()
		p.begin.Unlock()
		p.working.Wait()
		p.closed = errors.Join(p.pool.close(), p.removeOwn(), p.owner.close(), p.api.Close())
	})
	return p.closed
}
