package cuda

import (
	"errors"
	"fmt"
	"sync"

	"millrace/kernels"
)

// GeneratorOptions are the settings of a generator; zero values are the defaults.
type GeneratorOptions struct {
	// Precision is that of the weights, the activations and the cache.
	Precision Precision
	// PrefillTokens bounds the prompt tokens of one tick, so that a long prompt does not
	// hold up the sessions that decode. 0 means 4096.
	PrefillTokens int
	// Sequences bounds the calls in progress that take part in a tick; further ones wait.
	// 0 means 256.
	Sequences int
	// CacheBytes bounds the cache of keys and values, which is allocated once. 0 means a
	// quarter of the device memory that is free. What twice Sequences could fill is not
	// exceeded.
	CacheBytes uint64
}

const (
	defaultPrefillTokens = 4096
	defaultSequences     = 256
)

// Generator is a kernels.Generator on a GPU. One goroutine owns its loop: it sleeps until a
// call is submitted, and then takes the calls in progress one step further in each tick.
//
// A session's tokens do not depend on which other sessions there are, who shares its
// pages, or whether they were taken from it in between, but for how the device's matrix
// products round: in the emulator not at all; on a GPU cuBLASLt chooses an algorithm by the
// number of rows in a tick.
type Generator struct {
	device    *Device
	cfg       kernels.Config
	precision Precision
	engine    uintptr
	tick      tick
	ended     chan struct{} // closed when the loop has returned
	close     func() error

	// publishing guards own, and is taken before mu.
	publishing sync.Mutex
	own        *Trainer // holds weights that are not a trainer's of this device; nil until there are

	// mu guards what follows; the loop sleeps on wake.
	mu       sync.Mutex
	wake     *sync.Cond
	policy   uintptr // whose published weights the next tick runs
	version  int64
	schedule *schedule
	stats    kernels.GeneratorStats
	closed   bool
}

// NewGenerator returns a generator whose policy is weights, under version. Those of a trainer
// on this device, of the same precision, are not copied; the trainer must be closed after
// the generator.
func (d *Device) NewGenerator(cfg kernels.Config, weights kernels.Weights, version int64, o GeneratorOptions) (*Generator, error) {
	if o.PrefillTokens < 0 || o.Sequences < 0 {
		return nil, fmt.Errorf("generator options %+v: prefill tokens and sequences are not negative", o)
	}
	if o.PrefillTokens == 0 {
		o.PrefillTokens = defaultPrefillTokens
	}
	if o.Sequences == 0 {
		o.Sequences = defaultSequences
	}
	g := &Generator{device: d, cfg: cfg, precision: o.Precision, ended: make(chan struct{})}
	g.wake = sync.NewCond(&g.mu)
	g.close = sync.OnceValue(g.free)
	policy, err := g.holding(weights)
	if err == nil {
		err = policy.Publish(version)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a generator on cuda:%d: %w", d.ordinal, err), g.free())
	}
	c := engineCreateCall{
		policy: policy.handle, rows: int64(o.PrefillTokens), sequences: int64(o.Sequences), cacheBytes: o.CacheBytes,
		pages: 2 * int64(o.Sequences) * int64(pagesFor(cfg.MaxPositionEmbeddings)), // half of them for sessions between two calls
	}
	if err := call(d.abi.engineCreate, &c, &c.report); err != nil {
		return nil, errors.Join(fmt.Errorf("making a generator on cuda:%d: %w", d.ordinal, err), g.free())
	}
	g.engine, g.policy, g.version = c.engine, policy.handle, version
	g.schedule = newSchedule(newPages(int(c.pages), version), o.PrefillTokens, o.Sequences)
	go g.loop()
	return g, nil
}

// holding returns the trainer that holds the weights on this device: their own, or else the
// generator's, to which they are copied.
func (g *Generator) holding(weights kernels.Weights) (*Trainer, error) {
	if w, ok := weights.(Weights); ok && w.trainer.device.handle == g.device.handle && w.trainer.cfg == g.cfg && w.trainer.precision == g.precision {
		return w.trainer, nil
	}
	tensors, err := weights.Tensors()
	if err != nil {
		return nil, err
	}
	if g.own == nil {
		g.own, err = g.device.NewTrainer(g.cfg, tensors, Options{Precision: g.precision})
	} else {
		err = g.own.Restore(tensors, nil, 0)
	}
	return g.own, err
}

// Publish implements kernels.Generator: what it changes between two ticks is an address.
// Sequences in progress carry on with the cache entries that the old weights made, and
// every token tells the version that sampled it. What is cached of prompts is not shared
// with sequences that begin afterwards.
func (g *Generator) Publish(version int64, weights kernels.Weights) error {
	g.publishing.Lock()
	defer g.publishing.Unlock()
	if err := g.publish(version, weights); err != nil {
		return fmt.Errorf("publishing policy version %d: %w", version, err)
	}
	return nil
}

func (g *Generator) publish(version int64, weights kernels.Weights) error {
	if g.isClosed() {
		return kernels.ErrClosed
	}
	policy, err := g.holding(weights)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return kernels.ErrClosed
	}
	if err := policy.Publish(version); err != nil {
		return err
	}
	g.policy, g.version = policy.handle, version
	g.schedule.pages.forget(version)
	return nil
}

// Version implements kernels.Generator.
func (g *Generator) Version() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.version
}

// Stats implements kernels.MeteredGenerator. Prefilled counts what is read again too, and
// not what another sequence had read.
func (g *Generator) Stats() kernels.GeneratorStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stats
}

// CacheStats are what became of the cache since the generator was made.
type CacheStats struct {
	// Pages of 64 tokens there are, and those that no open session holds.
	Pages, Available int
	// Adopted counts the tokens whose keys and values another sequence had made.
	Adopted int64
	// Preempted counts the times a session lost its pages and had to read again.
	Preempted int64
}

// CacheStats tells how the cache is used.
func (g *Generator) CacheStats() CacheStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.schedule
	return CacheStats{Pages: len(s.pages.all), Available: s.pages.available(), Adopted: s.adopted, Preempted: s.preempted}
}

// Open implements kernels.Generator.
func (g *Generator) Open() (kernels.Session, error) {
	if g.isClosed() {
		return nil, fmt.Errorf("opening a session: %w", kernels.ErrClosed)
	}
	s := &session{generator: g}
	s.request.session = s
	s.request.done = make(chan struct{}, 1)
	return s, nil
}

func (g *Generator) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Close ends the calls in progress with an error, and gives the memory back.
func (g *Generator) Close() error {
	g.mu.Lock()
	g.closed = true
	g.wake.Signal()
	g.mu.Unlock()
	<-g.ended
	g.publishing.Lock()
	defer g.publishing.Unlock()
	return g.close()
}

// free gives back what was made.
func (g *Generator) free() error {
	var errs []error
	if g.engine != 0 {
		c := engineDestroyCall{engine: g.engine}
		errs = append(errs, call(g.device.abi.engineDestroy, &c, &c.report))
	}
	if g.own != nil {
		errs = append(errs, g.own.Close())
	}
	return errors.Join(errs...)
}
