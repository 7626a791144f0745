package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"millrace/kernels"
)

// session is one sequence. Between calls its caller owns it; from submission to
// the end of a call the engine does.
//
// Invariant: cached + len(pending) tokens are in the sequence, and pages hold
// the keys and values of the first cached.
type session struct {
	engine  *engine
	cached  int
	pending []int32 // not yet through the network; the last sampled token is one
	pages   []cachePage
	call    call
	closed  bool
	spoilt  error // why the session takes no further call
}

// call is one Generate of a session.
type call struct {
	session  *session
	sampling kernels.Sampling
	result   kernels.Completion
	err      error
	take     int // pending tokens that enter the network in this tick
	left     int // tokens the call may still sample
	done     chan struct{}
	canceled atomic.Bool
}

// Len is the number of tokens in the sequence.
func (s *session) Len() int { return s.cached + len(s.pending) }

// Generate is described in package kernels. A call that ends with ctx's error,
// or with that of a policy whose logits are not finite, leaves a session that
// can only be closed.
func (s *session) Generate(ctx context.Context, prompt []int32, sampling kernels.Sampling) (kernels.Completion, error) {
	if err := s.admit(prompt, &sampling); err != nil {
		return kernels.Completion{}, err
	}
	if err := ctx.Err(); err != nil {
		return kernels.Completion{}, err
	}
	c := &s.call
	s.pending = append(s.pending, prompt...)
	c.sampling, c.err, c.left = sampling, nil, sampling.MaxTokens
	c.canceled.Store(false)
	room := min(sampling.MaxTokens, s.engine.maximumPositions-s.Len())
	c.result = kernels.Completion{
		Tokens:   make([]int32, 0, room),
		LogProbs: make([]float32, 0, room),
		Versions: make([]int32, 0, room),
	}
	if err := s.engine.submit(c); err != nil {
		s.spoilt = err
		return kernels.Completion{}, err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		// The engine must let go of the session before the caller may have it.
		c.canceled.Store(true)
		<-c.done
		if c.err == nil {
			c.err = ctx.Err()
		}
	}
	if c.err != nil && !errors.Is(c.err, kernels.ErrContextFull) {
		s.spoilt = c.err
		return kernels.Completion{}, c.err
	}
	return c.result, c.err
}

// admit checks a call before it changes anything.
func (s *session) admit(prompt []int32, sampling *kernels.Sampling) error {
	switch {
	case s.closed:
		return errors.New("generating: session is closed")
	case s.spoilt != nil:
		return fmt.Errorf("generating: session failed before: %w", s.spoilt)
	}
	if err := s.engine.cfg.ValidatePrompt(s.Len(), prompt, sampling); err != nil {
		return fmt.Errorf("generating: %w", err)
	}
	return nil
}

// advance records that the first n pending tokens are in the cache.
func (s *session) advance(n int) {
	s.cached += n
	s.pending = slices.Delete(s.pending, 0, n)
}

// append adds a sampled token to sequence and result.
func (c *call) append(token int32, logProb float32, version int64) {
	c.session.pending = append(c.session.pending, token)
	c.result.Tokens = append(c.result.Tokens, token)
	c.result.LogProbs = append(c.result.LogProbs, logProb)
	c.result.Versions = append(c.result.Versions, int32(version))
	c.result.Stopped = slices.Contains(c.sampling.Stop, token)
	c.left--
}

// finished tells whether the call is over, and sets its error when the context
// is.
func (c *call) finished() bool {
	switch {
	case c.err != nil || c.canceled.Load():
		return true
	case len(c.result.Tokens) == 0:
		return false
	case c.result.Stopped || c.left == 0:
		return true
	case c.session.Len() == c.session.engine.maximumPositions:
		c.err = fmt.Errorf("generating: %w", kernels.ErrContextFull)
		return true
	}
	return false
}

// Close gives the cache back.
func (s *session) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.engine.release(s.pages)
	s.pages, s.pending = nil, nil
}
