package docker

import (
	"context"
	"sync"

	"millrace/transforms/sandbox"
)

// Later is a provider that connects to the daemon when it is first needed: most
// task sets have no images, and most laptops no daemon. A connection that
// failed is tried again.
type Later struct {
	cfg Config

	mu     sync.Mutex // guards the others
	opened *Provider
	closed bool
}

// NewLater checks the settings.
func NewLater(cfg Config) (*Later, error) {
	_, err := cfg.resolve()
	return &Later{cfg: cfg}, err
}

// Ready connects now.
func (l *Later) Ready(ctx context.Context) (*Provider, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if l.opened == nil {
		p, err := New(ctx, l.cfg)
		if err != nil {
			return nil, err
		}
		l.opened = p
	}
	return l.opened, nil
}

// Open connects if need be, and opens.
func (l *Later) Open(ctx context.Context, label string, spec sandbox.Spec) (sandbox.Sandbox, error) {
	p, err := l.Ready(ctx)
	if err != nil {
		return nil, failure(ctx, "opening workspace", label, err)
	}
	return p.Open(ctx, label, spec)
}

// Prepare connects if need be, and prepares.
func (l *Later) Prepare(spec sandbox.Spec, n int) {
	if p, err := l.Ready(context.Background()); err == nil {
		p.Prepare(spec, n)
	}
}

// Describe says which protections are active, or will be.
func (l *Later) Describe() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == nil {
		return "docker sandbox, not connected yet"
	}
	return l.opened.Describe()
}

// Stats returns the counters.
func (l *Later) Stats() sandbox.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened == nil {
		return sandbox.Stats{}
	}
	return l.opened.Stats()
}

// Close closes what was opened; nothing is opened afterwards.
func (l *Later) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.opened == nil {
		return nil
	}
	return l.opened.Close()
}
