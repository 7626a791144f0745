package kafkaio

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// RetryFor is how long a broker that fails is retried before the job fails,
// unless a configuration says otherwise: long enough for a broker to restart or
// a leader to be elected, short enough that a user still looks at the screen.
const RetryFor = 60 * time.Second

const (
	// attemptTimeout bounds one request. A request that waits for records adds
	// its waiting time.
	attemptTimeout = 10 * time.Second
	// Pauses double from backoffMin (a leader election on one machine) to
	// backoffMax, each shortened by up to a half at random, so that clients
	// which failed together do not come back together.
	backoffMin = 50 * time.Millisecond
	backoffMax = 2 * time.Second
)

// patience decides how long to keep trying. The zero value gives up at once.
type patience struct {
	budget time.Duration
	// since is when the present series of failures began; zero while all is well.
	since time.Time
	pause time.Duration
}

// well ends a series of failures.
func (p *patience) well() { p.since, p.pause = time.Time{}, 0 }

// again returns how long to wait before the next attempt, and false when the
// budget is used up.
func (p *patience) again(now time.Time) (time.Duration, bool) {
	if p.since.IsZero() {
		p.since = now
	}
	if now.Sub(p.since) >= p.budget {
		return 0, false
	}
	p.pause = min(max(2*p.pause, backoffMin), backoffMax)
	return p.pause/2 + rand.N(p.pause/2+1), true
}

// retry calls attempt, each time with its own deadline, until it succeeds, the
// error cannot be helped, ctx ends or budget has passed since the first
// failure. The error names the broker and what was attempted.
func retry(ctx context.Context, budget time.Duration, brokers, what string, attempt func(context.Context) error) error {
	p := patience{budget: budget}
	for {
		bounded, cancel := context.WithTimeout(ctx, attemptTimeout)
		err := attempt(bounded)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !retryable(err) {
			return fmt.Errorf("kafka %s: %s: %w", brokers, what, plain(err))
		}
		pause, ok := p.again(time.Now())
		if !ok {
			return fmt.Errorf("kafka %s: %s: gave up after %s: %w", brokers, what, budget, plain(err))
		}
		if !sleep(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// sleep waits for d and returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
