package cpu

import (
	"fmt"
	"sync"
	"time"

	"millrace/kernels"
	"millrace/kernels/cpu/gemm/workers"
)

// Options are the generator's settings; zero values are the defaults.
type Options struct {
	// PrefillTokens bounds the prompt tokens of one tick, so that a long prompt
	// does not hold up the sessions that decode. 0 means 256.
	PrefillTokens int
}

const defaultPrefillTokens = 256

// engine decodes all calls in progress together. One goroutine owns the loop:
// it sleeps until a call is submitted, and then takes every call one step
// further in each tick, by one sampled token or by a chunk of its prompt.
type engine struct {
	shape
	cfg     kernels.Config
	options Options
	rope    *rope
	lanes   []*lane
	ended   chan struct{} // closed when the loop has returned
	// runLane runs lane i on ticking; it is bound once so that a tick allocates
	// nothing.
	runLane func(worker, i int)
	ticking *packedWeights

	// mu guards what follows; the loop sleeps on wake.
	mu        sync.Mutex
	wake      *sync.Cond
	weights   *packedWeights
	submitted []*call
	pool      pagePool
	stats     kernels.GeneratorStats
	closed    bool
}

// NewGenerator returns a generator whose policy is weights, under version.
// Publish replaces the weights between two ticks: sequences in progress carry
// on with the cache entries that the old weights made, and every token tells
// the version that sampled it.
func NewGenerator(cfg kernels.Config, weights []kernels.Tensor, version int64, options Options) (kernels.MeteredGenerator, error) {
	if err := validate(cfg); err != nil {
		return nil, err
	}
	if options.PrefillTokens < 0 {
		return nil, fmt.Errorf("generator options %+v: prefill tokens are negative", options)
	}
	if options.PrefillTokens == 0 {
		options.PrefillTokens = defaultPrefillTokens
	}
	e := &engine{
		shape:   newShape(cfg),
		cfg:     cfg,
		options: options,
		rope:    newRope(cfg.HeadDim, cfg.RopeTheta),
		ended:   make(chan struct{}),
	}
	e.wake = sync.NewCond(&e.mu)
	e.pool.floats = e.layers * e.kvHeads * blockFloats(e.headDim)
	for range workers.Threads() {
		e.lanes = append(e.lanes, newLane(&e.shape))
	}
	e.runLane = func(_, i int) {
		if e.lanes[i].rows > 0 {
			e.lanes[i].run(e.ticking, e.rope)
		}
	}
	if err := e.Publish(version, kernels.Tensors(weights)); err != nil {
		return nil, err
	}
	go e.loop()
	return e, nil
}

func (e *engine) Publish(version int64, weights kernels.Weights) error {
	tensors, err := weights.Tensors()
	if err != nil {
		return fmt.Errorf("publishing policy version %d: %w", version, err)
	}
	p := newParams(e.cfg)
	if err := p.load("", tensors); err != nil {
		return fmt.Errorf("publishing policy version %d: %w", version, err)
	}
	packed := packWeights(&e.shape, p, version)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return fmt.Errorf("publishing policy version %d: %w", version, kernels.ErrClosed)
	}
	e.weights = packed
	return nil
}

func (e *engine) Version() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.weights.version
}

func (e *engine) Stats() kernels.GeneratorStats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}

func (e *engine) Open() (kernels.Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, fmt.Errorf("opening a session: %w", kernels.ErrClosed)
	}
	s := &session{engine: e}
	s.call.session = s
	s.call.done = make(chan struct{}, 1)
	return s, nil
}

// Close ends the calls in progress with an error and returns when the loop has
// ended.
func (e *engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.wake.Signal()
	e.mu.Unlock()
	<-e.ended
	return nil
}

func (e *engine) submit(c *call) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return kernels.ErrClosed
	}
	e.submitted = append(e.submitted, c)
	e.wake.Signal()
	return nil
}

func (e *engine) release(pages []cachePage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pool.put(pages)
}

func (e *engine) loop() {
	defer close(e.ended)
	var active []*call
	for {
		e.mu.Lock()
		for len(active) == 0 && len(e.submitted) == 0 && !e.closed {
			e.wake.Wait()
		}
		active = append(active, e.submitted...)
		e.submitted = e.submitted[:0]
		if e.closed {
			e.mu.Unlock()
			for _, c := range active {
				c.err = kernels.ErrClosed
				c.done <- struct{}{}
			}
			return
		}
		weights := e.weights
		prefilled := e.plan(active)
		e.mu.Unlock()

		start := time.Now()
		generated := e.tick(weights, active)
		busy := time.Since(start)

		active = finish(active)
		e.mu.Lock()
		e.stats.Ticks++
		e.stats.Busy += busy
		e.stats.Generated += int64(generated)
		e.stats.Prefilled += int64(prefilled)
		e.stats.Active = len(active)
		e.mu.Unlock()
	}
}

// plan decides how many tokens of each call enter the next tick and gives them
// cache pages. A call that decodes has one; prompts share PrefillTokens, the
// longest in progress first. The caller holds the lock.
func (e *engine) plan(active []*call) (prefilled int) {
	budget, longest := e.options.PrefillTokens, 0
	for _, c := range active {
		s := c.session
		if c.canceled.Load() {
			c.take = 0
			continue
		}
		c.take = 1
		if len(c.result.Tokens) == 0 {
			c.take = min(len(s.pending), budget)
			budget -= c.take
			prefilled += c.take
		}
		for len(s.pages)*keyBlock < s.cached+c.take {
			s.pages = append(s.pages, e.pool.get())
		}
		longest = max(longest, s.cached+c.take)
	}
	e.rope.ensure(longest)
	return prefilled
}

// tick deals the calls to lanes, each to the one with least work, and runs
// them. It returns the number of tokens sampled.
func (e *engine) tick(w *packedWeights, active []*call) (generated int) {
	for _, l := range e.lanes {
		l.calls, l.rows, l.cost = l.calls[:0], 0, 0
	}
	for _, c := range active {
		if c.take == 0 {
			continue
		}
		least := e.lanes[0]
		for _, l := range e.lanes[1:] {
			if l.cost < least.cost {
				least = l
			}
		}
		least.calls = append(least.calls, c)
		least.rows += c.take
		least.cost += c.take * (rowCost + c.session.cached)
		if c.take == len(c.session.pending) {
			generated++
		}
	}
	e.ticking = w
	workers.Run(len(e.lanes), e.runLane)
	return generated
}

// rowCost is the work of a row besides attention, in units of the work of
// attending to one token.
const rowCost = 1000

// finish answers the calls that are over and returns the others.
func finish(active []*call) []*call {
	going := active[:0]
	for _, c := range active {
		if c.finished() {
			c.done <- struct{}{}
		} else {
			going = append(going, c)
		}
	}
	clear(active[len(going):])
	return going
}
