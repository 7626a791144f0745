package kafkaio

import (
	"sync"
	"time"
)

// pace decides when a partition of an asynchronous stage is asked for again. Each
// call costs Prism milliseconds of a core, and a reader stands still when its
// window is full of what nobody has collected. So the pause grows until half a
// window is collected at once, and no further than a limit.
type pace struct {
	mu    sync.Mutex
	delay time.Duration
}

// next is the pause after a call that collected the given share of the window.
func (p *pace) next(share float64, shortest, longest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	growth := 2.0
	if share > 0 {
		growth = max(0.25, min(0.5/share, 2))
	}
	p.delay = min(max(time.Duration(float64(p.delay)*growth), shortest), longest)
	return p.delay
}
