package remote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// acquire waits for a place at an endpoint and takes it: a request may be sent to
// it, sampled by the returned weights, until release. held is where the session was, -1
// for nowhere.
func (p *Policy) acquire(ctx context.Context, held int) (index int, by published, err error) {
	places := make([]*place, len(p.endpoints))
	for i, e := range p.endpoints {
		places[i] = &e.place
	}
	patience := time.NewTimer(p.cfg.Patience)
	defer patience.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.closed {
			return -1, by, errClosed
		}
		by = p.wanted
		if p.cfg.fixed() {
			by.version = 0
		}
		if index = choose(places, held, by.version, p.cfg.InFlight); index >= 0 {
			if index != held {
				if held >= 0 {
					places[held].sessions--
				}
				places[index].sessions++
			}
			places[index].inFlight++
			p.stats.Active++
			return index, by, nil
		}
		if hopeful(places, by.version) {
			patience.Reset(p.cfg.Patience)
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			err = context.Cause(ctx)
		case <-patience.C:
			err = fmt.Errorf("waited %v for a server", p.cfg.Patience)
		}
		p.mu.Lock()
		switch {
		case err != nil && !hopeful(places, by.version):
			return -1, by, errors.Join(err, p.reasons())
		case ctx.Err() != nil:
			return -1, by, context.Cause(ctx)
		}
		err = nil // patience lasts while there is hope
	}
}

// release gives a place back.
func (p *Policy) release(index int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endpoints[index].inFlight--
	p.stats.Active--
	p.notify()
}

// leave ends a session's stay.
func (p *Policy) leave(index int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endpoints[index].sessions--
}

// notify wakes all who wait for a place to change. The caller holds the lock.
func (p *Policy) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}
