package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"millrace/kernels"
)

// Policy samples from servers. It is safe for concurrent use.
type Policy struct {
	cfg  Config
	id   string // of this process, in the ids of its requests
	stop context.CancelCauseFunc
	// watching ends with the background of every endpoint.
	watching sync.WaitGroup
	// publishing is held by Publish: one at a time.
	publishing sync.Mutex

	mu        sync.Mutex // guards what follows, and each endpoint's place and err
	endpoints []*endpoint
	wanted    published
	changed   chan struct{} // closed and replaced whenever a place changes
	closed    bool
	stats     Stats
	// sessions and publications count those so far.
	sessions, publications int64
}

// published are the weights that servers must have. The name is of one Publish
// alone.
type published struct {
	version int64
	dir     string
	name    string
}

// Stats are what a policy has done since it was made.
type Stats struct {
	// Sampled and Prompted count tokens of completions; a prompt counts again with
	// each turn.
	Sampled, Prompted int64
	// Requests counts requests sent, Failed those of them without a completion.
	Requests, Failed int64
	// Busy is the time spent in requests, summed over them.
	Busy time.Duration
	// Active is the number of requests now.
	Active int
}

var errClosed = errors.New("policy is closed")

// errUnseen is why an endpoint is down that was not looked at yet.
var errUnseen = errors.New("was not looked at yet")

// Open looks at every server once and returns the policy, which must be closed. A
// server that does not answer may come later; that none does is an error, and so is
// one that does not serve the model.
func Open(ctx context.Context, cfg Config) (*Policy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Evaluation && cfg.Tokenizer == nil {
		return nil, errors.New("evaluation needs the policy's tokenizer")
	}
	key, err := cfg.apiKey()
	if err != nil {
		return nil, err
	}
	background, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	p := &Policy{cfg: cfg, id: "millrace-" + rand.Text()[:10], stop: stop, wanted: published{version: none}, changed: make(chan struct{})}
	client := newClient(cfg.InFlight)
	for _, address := range cfg.Endpoints {
		base, err := baseURL(address)
		if err != nil {
			return nil, err
		}
		p.endpoints = append(p.endpoints, &endpoint{
			caller: caller{client: client, base: base, key: key}, place: place{version: none}, err: errUnseen,
		})
	}
	p.settleAll(ctx)
	if err := p.usable(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	for _, e := range p.endpoints {
		p.watching.Go(func() { p.watch(background, e) })
	}
	return p, nil
}

// usable is an error if no endpoint is up, or one has not the model.
func (p *Policy) usable() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	anyUp := false
	var errs []error
	for _, e := range p.endpoints {
		anyUp = anyUp || e.state == up
		if errors.Is(e.err, errNotServed) {
			errs = append(errs, e.err)
		}
	}
	if len(errs) == 0 && !anyUp {
		return p.reasons()
	}
	return errors.Join(errs...)
}

// reasons say why the endpoints are down. The caller holds the lock.
func (p *Policy) reasons() error {
	errs := []error{errors.New("no policy server is of use")}
	if p.wanted.version == none && !p.cfg.fixed() {
		errs = append(errs, errors.New("no policy version is published yet"))
	}
	for _, e := range p.endpoints {
		if e.err != nil {
			errs = append(errs, e.err)
		}
	}
	return errors.Join(errs...)
}

// watch settles an endpoint again and again.
func (p *Policy) watch(ctx context.Context, e *endpoint) {
	for pause(ctx, p.cfg.HealthEvery) == nil {
		p.settle(ctx, e)
	}
}

// settleAll settles every endpoint at the same time.
func (p *Policy) settleAll(ctx context.Context) {
	var all sync.WaitGroup
	for _, e := range p.endpoints {
		all.Go(func() { p.settle(ctx, e) })
	}
	all.Wait()
}

// Publish makes the checkpoint in dir the policy of a version on every server, and
// returns when each has it or is set aside. dir is a path that the servers see. From
// the beginning of the call on no token of another version is sampled; completions
// under way end first. That no server has taken the version is an error.
func (p *Policy) Publish(ctx context.Context, version int64, dir string) error {
	if p.cfg.fixed() {
		return errors.New("publishing to servers opened as they are: their weights are left alone")
	}
	if version < 0 {
		return fmt.Errorf("publishing policy version %d: must not be negative", version)
	}
	p.publishing.Lock()
	defer p.publishing.Unlock()
	p.mu.Lock()
	p.publications++
	p.wanted = published{version, dir, fmt.Sprintf("%s@%d.%d", p.cfg.Run, version, p.publications)}
	for _, e := range p.endpoints {
		e.version = none // the same version may come with other weights
	}
	p.notify()
	p.mu.Unlock()
	p.settleAll(ctx)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("publishing policy version %d: %w", version, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.endpoints {
		if e.usable(version) {
			return nil
		}
	}
	return fmt.Errorf("publishing policy version %d: %w", version, p.reasons())
}

// Version is the policy version that a token sampled now would carry: the one
// published last, -1 before the first, 0 where none is published.
func (p *Policy) Version() int64 {
	if p.cfg.fixed() {
		return 0
	}
	return p.published().version
}

func (p *Policy) published() published {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

func (p *Policy) versionOf(e *endpoint) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.version
}

// Context is the number of tokens that every server seen so far takes; 0 is not
// known.
func (p *Policy) Context() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	least := 0
	for _, e := range p.endpoints {
		if e.length > 0 && (least == 0 || e.length < least) {
			least = e.length
		}
	}
	return least
}

// Stats returns the counters.
func (p *Policy) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats
}

// Open starts an empty sequence. It waits until an endpoint is of use, no longer
// than ctx lives nor than Config.Patience while none is about to be.
func (p *Policy) Open(ctx context.Context) (kernels.Session, error) {
	p.mu.Lock()
	p.sessions++
	s := &session{policy: p, id: fmt.Sprintf("%s-%d", p.id, p.sessions), held: -1}
	p.mu.Unlock()
	index, _, err := p.acquire(ctx, s.held)
	if err != nil {
		return nil, fmt.Errorf("opening a session: %w", err)
	}
	s.held = index
	p.release(index)
	return s, nil
}

// Close ends the background and refuses further requests. Servers keep the weights
// they have.
func (p *Policy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.notify()
	p.mu.Unlock()
	p.stop(errClosed)
	p.watching.Wait()
	p.endpoints[0].client.CloseIdleConnections()
	return nil
}
