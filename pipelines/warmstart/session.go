package warmstart

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"millrace/kernels"
	"millrace/kernels/tokenizer"
	"millrace/transforms/inject"
	"millrace/transforms/rollout"
)

// Policy is the scripted expert behind the interface of a policy, so that
// demonstrations come out of the very agent loop that the trained policy will
// act in.
type Policy struct {
	tokenizer *tokenizer.Tokenizer
	habits    Habits
	kinds     []inject.Kind
}

// NewPolicy makes an expert that tries edits of the given kinds (none: all). The
// tokenizer is the agent's.
func NewPolicy(t *tokenizer.Tokenizer, h Habits, kinds []inject.Kind) *Policy {
	return &Policy{tokenizer: t, habits: h, kinds: kinds}
}

var _ rollout.Policy = (*Policy)(nil)

// Open starts a rollout of the expert.
func (p *Policy) Open(context.Context) (kernels.Session, error) { return &session{policy: p}, nil }

// Version is 0: the expert does not learn.
func (p *Policy) Version() int64 { return 0 }

// session reads the conversation as the policy would, from token ids.
type session struct {
	policy *Policy
	length int
	expert *expert
}

// Generate decides the next turn. Its log-probs are 0: nothing was sampled from
// a distribution.
func (s *session) Generate(_ context.Context, prompt []int32, sampling kernels.Sampling) (kernels.Completion, error) {
	said := lastMessage(s.policy.tokenizer.Decode(prompt))
	if s.expert == nil {
		path, err := sourceFile(said)
		if err != nil {
			return kernels.Completion{}, err
		}
		s.expert = newExpert(s.policy.habits, s.policy.kinds, rand.New(rand.NewPCG(sampling.Seed, 0)), path)
	}
	ids := s.policy.tokenizer.Encode(s.expert.next(said).String())
	ids = append(ids, sampling.Stop[0])
	stopped := len(ids) <= sampling.MaxTokens
	if !stopped {
		ids = ids[:sampling.MaxTokens] // the agent loop ends the rollout at its limit
	}
	s.length += len(prompt) + len(ids)
	return kernels.Completion{
		Tokens: ids, LogProbs: make([]float32, len(ids)), Versions: make([]int32, len(ids)), Stopped: stopped,
	}, nil
}

func (s *session) Len() int { return s.length }
func (s *session) Close()   {}

// lastMessage is the content of the last whole message of a rendered chat.
func lastMessage(chat string) string {
	end := strings.LastIndex(chat, tokenizer.MessageEnd)
	if end < 0 {
		return ""
	}
	start := strings.LastIndex(chat[:end], tokenizer.MessageStart)
	_, content, _ := strings.Cut(chat[start+1:end], "\n")
	return content
}

// sourceFile finds the file to repair in the first message: the Go file beside
// its test.
func sourceFile(message string) (string, error) {
	list := message[strings.LastIndex(message, "Files:")+1:]
	for _, f := range strings.Fields(list) {
		if strings.HasSuffix(f, ".go") && !strings.HasSuffix(f, "_test.go") {
			return f, nil
		}
	}
	return "", fmt.Errorf("the task names no Go file: %q", message)
}
