package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"millrace/kernels"
)

// session is one sequence. The server holds none of it but a cached prefix, so the
// session may move at any turn.
type session struct {
	policy *Policy
	id     string
	held   int // the endpoint where the prefix is cached
	tokens []int32
	turns  int
	closed bool
	spoilt error // why the session takes no further call
}

// Len is the number of tokens in the sequence.
func (s *session) Len() int { return len(s.tokens) }

// Close ends the session's stay at its endpoint.
func (s *session) Close() {
	if !s.closed {
		s.closed = true
		s.policy.leave(s.held)
		s.tokens = nil
	}
}

// Generate is described in package kernels. The context is that of the servers.
func (s *session) Generate(ctx context.Context, prompt []int32, sampling kernels.Sampling) (kernels.Completion, error) {
	length := s.policy.Context()
	if err := s.admit(prompt, &sampling, length); err != nil {
		return kernels.Completion{}, err
	}
	if err := ctx.Err(); err != nil {
		return kernels.Completion{}, err
	}
	s.turns++
	r := &request{
		session: s.id, sampling: sampling, maxTokens: sampling.MaxTokens,
		prompt: slices.Concat(s.tokens, prompt),
	}
	if length > 0 {
		r.maxTokens = min(r.maxTokens, length-len(r.prompt))
	}
	c, err := s.persist(ctx, r)
	if err != nil {
		s.spoilt = err
		return kernels.Completion{}, fmt.Errorf("generating: %w", err)
	}
	s.tokens = append(r.prompt, c.Tokens...)
	if len(s.tokens) == length && !c.Stopped && len(c.Tokens) < sampling.MaxTokens {
		return c, fmt.Errorf("generating: %w", kernels.ErrContextFull)
	}
	return c, nil
}

// admit checks a call before it changes anything.
func (s *session) admit(prompt []int32, sampling *kernels.Sampling, length int) error {
	n := len(s.tokens) + len(prompt)
	switch {
	case s.closed:
		return errors.New("generating: session is closed")
	case s.spoilt != nil:
		return fmt.Errorf("generating: session failed before: %w", s.spoilt)
	case n == 0:
		return errors.New("generating: sequence is empty, there is nothing to predict from")
	case length > 0 && n >= length:
		return fmt.Errorf("generating: sequence of %d and prompt of %d tokens in a context of %d: %w",
			len(s.tokens), len(prompt), length, kernels.ErrContextFull)
	case !(sampling.Temperature >= 0) || math.IsInf(sampling.Temperature, 0) || sampling.TopK < 0 || !(sampling.TopP >= 0 && sampling.TopP <= 1):
		return fmt.Errorf("generating: sampling by temperature %v, top_k %d and top_p %v: want at least 0, at least 0, and in [0,1]",
			sampling.Temperature, sampling.TopK, sampling.TopP)
	case sampling.MaxTokens <= 0:
		return fmt.Errorf("generating: sampling is bounded by %d tokens, must be positive", sampling.MaxTokens)
	}
	for i, id := range prompt {
		if id < 0 || s.policy.cfg.Vocabulary > 0 && int(id) >= s.policy.cfg.Vocabulary {
			return fmt.Errorf("generating: prompt token %d is %d, the vocabulary has %d", i, id, s.policy.cfg.Vocabulary)
		}
	}
	return nil
}

// persist tries a request until it succeeds, cannot, or its attempts are used up.
func (s *session) persist(ctx context.Context, r *request) (kernels.Completion, error) {
	p := s.policy
	for n := 1; ; n++ {
		index, by, err := p.acquire(ctx, s.held)
		if err != nil {
			return kernels.Completion{}, err
		}
		s.held = index
		e := p.endpoints[index]
		try := *r
		try.id = fmt.Sprintf("%s-%d-%d", s.id, s.turns, n)
		c, err := p.attempt(ctx, e, &try, by)
		if err == nil {
			p.release(index)
			return c, nil
		}
		err = fmt.Errorf("request %s: %w", try.id, err)
		retry, wait, suspect := verdict(err)
		if ctx.Err() != nil {
			retry, suspect = false, false // the caller's doing, not the server's
		}
		if suspect {
			p.setDown(e, err)
		}
		p.release(index)
		if !retry {
			return kernels.Completion{}, err
		}
		if n == p.cfg.Attempts {
			return kernels.Completion{}, fmt.Errorf("tried %d times: %w", n, err)
		}
		if err := pause(ctx, max(wait, backoff(n, p.cfg.FirstDelay, p.cfg.LongestDelay))); err != nil {
			return kernels.Completion{}, err
		}
	}
}

// attempt sends a request and reads its completion, within RequestTime.
func (p *Policy) attempt(ctx context.Context, e *endpoint, r *request, by published) (c kernels.Completion, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.RequestTime)
	defer cancel()
	started := time.Now()
	defer func() { p.count(r, &c, err, time.Since(started)) }()
	r.model = e.model
	if err := p.honest(ctx, e, r); err != nil {
		return c, err
	}
	path, body, err := e.dialect.ask(r)
	if err != nil {
		return c, fmt.Errorf("policy server %s: %w", e.base, err)
	}
	text, err := e.call(ctx, http.MethodPost, path, r.header(), body, bound(r))
	if err != nil {
		return c, err
	}
	a, err := e.dialect.read(text)
	if err == nil {
		c, err = p.accept(&a, r, by)
	}
	if err != nil {
		return kernels.Completion{}, fmt.Errorf("policy server %s: %w", e.base, err)
	}
	return c, nil
}

// accept makes a completion of an answer, if it may.
func (p *Policy) accept(a *answer, r *request, by published) (kernels.Completion, error) {
	if p.cfg.Evaluation {
		return a.evaluated(r, p.cfg.Tokenizer.EncodePlain)
	}
	if a.weights != "" && !p.cfg.fixed() && a.weights != by.name {
		return kernels.Completion{}, fmt.Errorf("%w: %q, not %q", errOtherWeights, a.weights, by.name)
	}
	return a.complete(r, by.version, p.cfg.Vocabulary)
}

// honest checks, once for each endpoint and kind of request, that the
// log-probabilities are those of the distribution sampled from.
func (p *Policy) honest(ctx context.Context, e *endpoint, r *request) error {
	if p.cfg.Evaluation || !transforms(r) {
		return nil
	}
	e.reporting.Lock()
	defer e.reporting.Unlock()
	if e.honest[kind(r)] {
		return nil
	}
	err := e.dialect.reports(ctx, &e.caller, r)
	e.honest[kind(r)] = err == nil
	return err
}

func (p *Policy) count(r *request, c *kernels.Completion, err error, busy time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Requests++
	p.stats.Busy += busy
	if err != nil {
		p.stats.Failed++
		return
	}
	p.stats.Sampled += int64(len(c.Tokens))
	p.stats.Prompted += int64(len(r.prompt))
}
