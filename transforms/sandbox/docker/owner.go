package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/gofrs/flock"
)

// The labels of a container.
const (
	labelRun     = "millrace.run"
	labelOwner   = "millrace.owner"
	labelSandbox = "millrace.sandbox"
	// labelPrepared is an image's: it was made by a setup.
	labelPrepared = "millrace.prepared"
)

// owner says that this process lives: it holds the lock of a file, whose name
// with the host's is the value of the label. The lock falls when the process
// ends, however it ends.
type owner struct {
	host string
	lock *flock.Flock
}

func newOwner() (*owner, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("asking for the host's name: %w", err)
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("millrace-docker-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a directory for locks: %w", err)
	}
	file, err := os.CreateTemp(dir, "owner-*.lock")
	if err != nil {
		return nil, fmt.Errorf("making a lock: %w", err)
	}
	file.Close()
	lock := flock.New(file.Name())
	if held, err := lock.TryLock(); err != nil || !held {
		return nil, fmt.Errorf("locking %s: held by another process (%v)", file.Name(), err)
	}
	return &owner{host: host, lock: lock}, nil
}

func (o *owner) String() string { return o.host + ":" + o.lock.Path() }

// dead tells whether the owner of a label is known to be dead: it was of this
// host, and nobody holds its lock.
func (o *owner) dead(label string) bool {
	path, ok := strings.CutPrefix(label, o.host+":")
	if !ok || path == o.lock.Path() {
		return false
	}
	if _, err := os.Stat(path); err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	lock := flock.New(path)
	held, err := lock.TryLock()
	if err != nil || !held {
		return false
	}
	os.Remove(path)
	lock.Unlock()
	return true
}

func (o *owner) close() error { return errors.Join(os.Remove(o.lock.Path()), o.lock.Unlock()) }

func (p *Provider) labels(sandbox string) map[string]string {
	return map[string]string{labelRun: p.cfg.Run, labelOwner: p.owner.String(), labelSandbox: sandbox}
}

// sweep removes the containers of dead owners: of the same run, which only one
// process has at a time, and of this host.
func (p *Provider) sweep(ctx context.Context) error {
	return p.removeWhere(ctx, func(labels map[string]string) bool {
		return p.cfg.Run != "" && labels[labelRun] == p.cfg.Run || p.owner.dead(labels[labelOwner])
	})
}

// removeOwn removes what is left of this provider's own.
func (p *Provider) removeOwn() error {
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.CallTime)
	defer cancel()
	return p.removeWhere(ctx, func(labels map[string]string) bool { return labels[labelOwner] == p.owner.String() })
}

func (p *Provider) removeWhere(ctx context.Context, old func(labels map[string]string) bool) error {
	all, err := p.api.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", labelOwner))})
	if err != nil {
		return fmt.Errorf("listing containers: %w", err)
	}
	var errs []error
	judged := map[string]bool{} // by owner and run: a lock is tried once
	for _, c := range all {
		key := c.Labels[labelOwner] + "\x00" + c.Labels[labelRun]
		if _, ok := judged[key]; !ok {
			judged[key] = old(c.Labels)
		}
		if judged[key] {
			errs = append(errs, p.remove(c.ID))
		}
	}
	return errors.Join(errs...)
}

// ignoreGone takes the absence of a container for its removal.
func ignoreGone(err error) error {
	if errdefs.IsNotFound(err) || err != nil && strings.Contains(err.Error(), "already in progress") {
		return nil
	}
	return err
}
