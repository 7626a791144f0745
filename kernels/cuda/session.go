package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"millrace/kernels"
)

// session is one sequence. Its caller owns its tokens between calls, and the loop from
// submission to the end of a call; its pages are always the schedule's.
type session struct {
	generator *Generator
	sequence  sequence
	request   request
	closed    bool
	spoilt    error // why the session takes no further call
}

// request is one Generate of a session.
type request struct {
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
func (s *session) Len() int { return len(s.sequence.tokens) }

// Generate is described in package kernels. A call that ends with ctx's error, or with
// that of a policy whose logits are not finite, leaves a session that can only be closed.
func (s *session) Generate(ctx context.Context, prompt []int32, sampling kernels.Sampling) (kernels.Completion, error) {
	if err := s.admit(prompt, &sampling); err != nil {
		return kernels.Completion{}, err
	}
	if err := ctx.Err(); err != nil {
		return kernels.Completion{}, err
	}
	r := &s.request
	room := min(sampling.MaxTokens, s.generator.cfg.MaxPositionEmbeddings-s.Len()-len(prompt))
	s.sequence.tokens = append(slices.Grow(s.sequence.tokens, len(prompt)+room), prompt...)
	r.sampling, r.err, r.left = sampling, nil, sampling.MaxTokens
	r.canceled.Store(false)
	r.result = kernels.Completion{
		Tokens:   make([]int32, 0, room),
		LogProbs: make([]float32, 0, room),
		Versions: make([]int32, 0, room),
	}
	if err := s.generator.submit(r); err != nil {
		s.spoilt = err
		return kernels.Completion{}, err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		// The loop must let go of the session before the caller may have it.
		r.canceled.Store(true)
		<-r.done
		if r.err == nil {
			r.err = ctx.Err()
		}
	}
	if r.err != nil && !errors.Is(r.err, kernels.ErrContextFull) {
		s.spoilt = r.err
		return kernels.Completion{}, r.err
	}
	return r.result, r.err
}

// admit checks a call before it changes anything.
func (s *session) admit(prompt []int32, sampling *kernels.Sampling) error {
	switch {
	case s.closed:
		return errors.New("generating: session is closed")
	case s.spoilt != nil:
		return fmt.Errorf("generating: session failed before: %w", s.spoilt)
	}
	if err := s.generator.cfg.ValidatePrompt(s.Len(), prompt, sampling); err != nil {
		return fmt.Errorf("generating: %w", err)
	}
	return nil
}

// sample adds what was sampled to sequence and result.
func (r *request) sample(s sampled, version int64) {
	if s.token < 0 {
		r.err = errors.New("generating: the policy's logits are not finite")
		return
	}
	q := &r.session.sequence
	q.tokens = append(q.tokens, s.token)
	r.result.Tokens = append(r.result.Tokens, s.token)
	r.result.LogProbs = append(r.result.LogProbs, s.logProb)
	r.result.Versions = append(r.result.Versions, int32(version))
	r.result.Stopped = slices.Contains(r.sampling.Stop, s.token)
	r.left--
	if !r.over() && len(q.tokens) == r.session.generator.cfg.MaxPositionEmbeddings {
		r.err = fmt.Errorf("generating: %w", kernels.ErrContextFull)
	}
}

// over tells whether the call has ended.
func (r *request) over() bool { return r.failed() || r.result.Stopped || r.left == 0 }

func (r *request) failed() bool { return r.err != nil || r.canceled.Load() }

// Close gives the cache back.
func (s *session) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.generator.mu.Lock()
	defer s.generator.mu.Unlock()
	s.generator.schedule.leave(&s.sequence)
}
