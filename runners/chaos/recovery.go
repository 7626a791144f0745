package chaos

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// recovery is how long the learner took from its kill to the next step.
type recovery struct {
	step     int64
	killedAt time.Time
	// loading is the part that reading checkpoint and ledger took.
	loading time.Duration
	took    time.Duration // 0 as long as there is no step
}

// killed begins a measurement where the role is the learner.
func (c *campaign) killed(role string) {
	if role != learnRole {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recoveries = append(c.recoveries, recovery{step: c.step(), killedAt: time.Now()})
}

// disturbed gives up a measurement that another fault comes into.
func (c *campaign) disturbed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.recoveries); n > 0 && c.recoveries[n-1].took == 0 {
		c.recoveries = c.recoveries[:n-1]
	}
}

// observe ends a measurement with the next step.
func (c *campaign) observe(step int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.recoveries)
	if n == 0 || c.recoveries[n-1].took != 0 || step <= c.recoveries[n-1].step {
		return
	}
	last := &c.recoveries[n-1]
	text, err := os.ReadFile(filepath.Join(roleDir(c.Dir, learnRole), openedFile))
	if err == nil {
		last.loading, err = time.ParseDuration(string(text))
	}
	if err != nil {
		c.recoveries = c.recoveries[:n-1]
		return
	}
	last.took = time.Since(last.killedAt)
}

// recovered are the times measured, less loading, sorted.
func (c *campaign) recovered() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []time.Duration
	for _, r := range c.recoveries {
		if r.took != 0 {
			out = append(out, r.took-r.loading)
		}
	}
	slices.Sort(out)
	return out
}
