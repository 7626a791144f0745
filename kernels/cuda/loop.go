package cuda

import (
	"fmt"
	"time"

	"millrace/kernels"
)

// submit hands a request to the loop.
func (g *Generator) submit(r *request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return kernels.ErrClosed
	}
	g.schedule.submit(r)
	g.wake.Signal()
	return nil
}

// loop runs a tick for the sessions that decode and one for those that read: attention to
// long prompts and to one token are shared out in other ways.
func (g *Generator) loop() {
	defer close(g.ended)
	for {
		g.mu.Lock()
		for !g.schedule.busy() && !g.closed {
			g.wake.Wait()
		}
		if g.closed {
			g.abandon()
			g.mu.Unlock()
			return
		}
		decoding, reading := g.schedule.plan()
		g.mu.Unlock()
		g.step(decoding)
		g.step(reading)
		g.mu.Lock()
		for _, r := range g.schedule.end() {
			r.done <- struct{}{}
		}
		g.stats.Active = len(g.schedule.running) + len(g.schedule.waiting)
		g.mu.Unlock()
	}
}

// step runs one tick and takes its requests on.
func (g *Generator) step(requests []*request) {
	if len(requests) == 0 {
		return
	}
	g.mu.Lock()
	policy := g.policy
	g.mu.Unlock()
	g.tick.lay(requests)
	start := time.Now()
	version, err := g.tick.run(g.device.abi, g.engine, policy)
	busy := time.Since(start)

	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.Ticks++
	g.stats.Busy += busy
	sampled := g.tick.sampled
	for _, r := range requests {
		if err != nil {
			r.err = fmt.Errorf("generating: %w", err)
			continue
		}
		q := &r.session.sequence
		samples := r.take == q.pending()
		if len(r.result.Tokens) == 0 || !samples {
			g.stats.Prefilled += int64(r.take)
		}
		q.advance(r.take, version, g.schedule.pages)
		if !samples {
			continue
		}
		r.sample(sampled[0], version)
		sampled = sampled[1:]
		g.stats.Generated++
	}
}

// abandon ends every call. The caller holds the lock.
func (g *Generator) abandon() {
	for _, requests := range [][]*request{g.schedule.running, g.schedule.waiting} {
		for _, r := range requests {
			r.err = kernels.ErrClosed
		}
	}
	for _, r := range g.schedule.end() {
		r.done <- struct{}{}
	}
	g.stats.Active = 0
}
