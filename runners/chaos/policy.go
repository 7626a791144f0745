package chaos

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"

	"millrace/kernels"
	"millrace/kernels/tokenizer"
	"millrace/transforms/rollout/tools"
)

// control are the tokens beside the 256 bytes.
var control = []string{tokenizer.EndOfText, tokenizer.MessageStart, tokenizer.MessageEnd}

const vocabulary = 256 + 3

func newTokenizer() (*tokenizer.Tokenizer, error) {
	return tokenizer.Train(func(func(string) bool) {}, vocabulary, control)
}

// policy plays an agent that answers and submits. What it answers, and the
// log-probabilities of its tokens, are a function of the rollout's seed and of
// the weights handed over to it: weights that are wrong, or late, change the
// samples and with them all weights after them.
type policy struct {
	tokenizer *tokenizer.Tokenizer
	work      func() // called in the middle of each rollout

	mu      sync.Mutex // guards the fields below
	version int64
	digest  uint64 // of the weights
}

// publish takes the weights of a version.
func (p *policy) publish(version int64, weights []kernels.Tensor) error {
	h := xxhash.New()
	var b [4]byte
	for _, t := range weights {
		for _, x := range t.Data {
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(x))
			h.Write(b[:])
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version, p.digest = version, h.Sum64()
	return nil
}

// Version is -1 until weights were handed over: then no order is admitted.
func (p *policy) Version() int64 {
	version, _ := p.current()
	return version
}

func (p *policy) current() (version int64, digest uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version, p.digest
}

func (p *policy) Open(context.Context) (kernels.Session, error) { return &session{policy: p}, nil }

type session struct {
	policy *policy
	turns  int
	length int
}

func (s *session) Generate(ctx context.Context, prompt []int32, sampling kernels.Sampling) (kernels.Completion, error) {
	if err := ctx.Err(); err != nil {
		return kernels.Completion{}, err
	}
	version, digest := s.policy.current()
	random := mix(sampling.Seed, digest, uint64(s.turns))
	call := tools.Call{Name: "finish"}
	if s.turns == 0 {
		call = tools.Call{Name: "file_editor", Args: map[string]string{
			"command": "str_replace", "path": answerFile, "old_str": "none", "new_str": fmt.Sprint(random % answers),
		}}
	} else {
		s.policy.work()
	}
	s.turns++
	c := kernels.Completion{Tokens: append(s.policy.tokenizer.EncodePlain(tools.Format(call)), sampling.Stop[0]), Stopped: true}
	for i := range c.Tokens {
		// Near that of a policy that knows nothing, so that the ratio to the
		// trainer's is near 1.
		noise := float64(mix(random, uint64(i))%1024) / 1024
		c.LogProbs = append(c.LogProbs, float32(-math.Log(vocabulary)+0.1*(noise-0.5)))
		c.Versions = append(c.Versions, int32(version))
	}
	s.length += len(prompt) + len(c.Tokens)
	return c, nil
}

func (s *session) Len() int { return s.length }
func (s *session) Close()   {}

// mix hashes numbers to one.
func mix(numbers ...uint64) uint64 {
	h := xxhash.New()
	var b [8]byte
	for _, n := range numbers {
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	return h.Sum64()
}
