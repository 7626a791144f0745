package kafkaio

import (
	"sync"
	"time"
)

// pace decides when a partition is asked for again: soon while there is
// something to do, twice as late after each time that there was not. Prism
// spends milliseconds of a core on each call, so idle partitions must be cheap.
type pace struct {
	mu    sync.Mutex
	delay time.Duration
}

func (p *pace) next(busy bool, shortest, longest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if busy {
		p.delay = shortest
	} else {
		p.delay = min(max(2*p.delay, shortest), longest)
	}
	return p.delay
}
