package remote

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// endpoint is one server.
type endpoint struct {
	caller
	place        // guarded by Policy.mu
	err    error // why it is down; guarded by Policy.mu
	length int   // of its context in tokens, 0 is not known; guarded by Policy.mu

	// settling is held by whoever looks at the server or changes its weights. It
	// guards loaded, and the first writing of what follows it, which is read by
	// requests after the endpoint was up for the first time.
	settling sync.Mutex
	loaded   string // the weights that this process gave it last, "" for none
	dialect  dialect
	model    string

	// reporting guards honest: the kinds of request (see kind) for which the
	// dialect's reports has passed.
	reporting sync.Mutex
	honest    [4]bool
}

// settle brings a server to the version published last, if it answers at all. It
// returns when the endpoint is up at that version or down.
//
// Nothing but settle raises an endpoint; it is the one way for a new server, one
// that has come back, and one that gets new weights.
func (p *Policy) settle(ctx context.Context, e *endpoint) {
	e.settling.Lock()
	defer e.settling.Unlock()
	intact, err := p.inspect(ctx, e)
	if err != nil {
		p.setDown(e, err)
		return
	}
	if p.cfg.fixed() {
		p.setUp(e, 0)
		return
	}
	want := p.published()
	if want.version == none {
		p.setUp(e, none)
		return
	}
	switch {
	case e.loaded == want.name && intact:
		p.setUp(e, want.version)
		return
	case e.loaded == want.name && p.versionOf(e) == want.version:
		return
	}
	if err := p.handOver(ctx, e, want); err != nil {
		p.setDown(e, err)
	}
}

// inspect looks whether the server answers and which it is. intact tells that the
// server itself names the weights that it was given last.
func (p *Policy) inspect(ctx context.Context, e *endpoint) (intact bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.HealthTime)
	defer cancel()
	if err := e.get(ctx, "/health", nil); err != nil && (p.cfg.Dialect != Chat || !missing(err)) {
		return false, err
	}
	if e.dialect == nil {
		d, err := identify(ctx, &e.caller, p.cfg.Dialect)
		if err != nil {
			return false, err
		}
		model, length, err := findModel(ctx, &e.caller, p.cfg.Model)
		if err != nil {
			return false, err
		}
		switch d.(type) {
		case chat:
			d = chat{p.cfg.Tokenizer}
		case sglang:
			length = max(0, length-sglangReserve)
		}
		e.dialect, e.model = d, model
		p.setLength(e, length)
	}
	if e.loaded == "" {
		return false, nil
	}
	name, known, err := e.dialect.weights(ctx, &e.caller)
	if err != nil {
		return false, err
	}
	if known && name != e.loaded {
		slog.Warn(fmt.Sprintf("policy server %s holds the weights %q, not %q that it was given: giving it the newest", e.base, name, e.loaded))
		e.loaded = ""
	}
	return known && name == e.loaded, nil
}

func (p *Policy) setLength(e *endpoint, length int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.length = length
}

// handOver gives a server the weights of a version, between requests.
func (p *Policy) handOver(ctx context.Context, e *endpoint, want published) error {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.HandOverTime)
	defer cancel()
	if err := p.drain(ctx, e); err != nil {
		return fmt.Errorf("policy server %s: waiting for its requests before version %d: %w", e.base, want.version, err)
	}
	e.loaded = "" // until it is known to have them, it has neither
	if err := e.dialect.load(ctx, &e.caller, want.dir, want.name); err != nil {
		return fmt.Errorf("handing policy version %d over: %w", want.version, err)
	}
	name, known, err := e.dialect.weights(ctx, &e.caller)
	if err != nil {
		return fmt.Errorf("checking policy version %d: %w", want.version, err)
	}
	if known && name != want.name {
		return fmt.Errorf("policy server %s: took the weights %q, and says that it has %q", e.base, want.name, name)
	}
	e.loaded = want.name
	p.setUp(e, want.version)
	return nil
}

// drain closes an endpoint to requests and waits until it has none.
func (p *Policy) drain(ctx context.Context, e *endpoint) error {
	p.mu.Lock()
	e.state = changing
	p.notify()
	for e.inFlight > 0 {
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		p.mu.Lock()
	}
	p.mu.Unlock()
	return nil
}

func (p *Policy) setUp(e *endpoint, version int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.state == down && e.err != errUnseen {
		slog.Info(fmt.Sprintf("policy server %s is up", e.base))
	}
	e.state, e.version, e.err = up, version, nil
	p.notify()
}

// setDown closes an endpoint whose weights can no longer be relied on.
func (p *Policy) setDown(e *endpoint, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if again := e.err != nil && e.err.Error() == err.Error(); !again && !p.closed {
		slog.Warn(fmt.Sprintf("policy server set aside: %v", err))
	}
	e.state, e.version, e.err = down, none, err
	p.notify()
}
