package remote

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"millrace/kernels"
)

// The bound of a completion's answer, in bytes: a sampled token takes an id, its
// name, a log-probability and its text, escaped in the worst case; a token of the
// prompt its echo.
const (
	baseBytes    = 64 << 10
	sampledBytes = 1 << 10
	promptBytes  = 16
)

// bound is the largest answer that is read.
func bound(r *request) int64 {
	return baseBytes + sampledBytes*int64(r.maxTokens) + promptBytes*int64(len(r.prompt))
}

// header names the request in the server's log (vLLM takes X-Request-Id as its own
// id) and keeps a session together behind a router.
func (r *request) header() http.Header {
	return http.Header{"X-Request-Id": {r.id}, "X-Session-Id": {r.session}}
}

// complete makes a completion of an answer whose weights are of a policy version,
// or says what is wrong with it.
func (a *answer) complete(r *request, version int64, vocabulary int) (kernels.Completion, error) {
	switch {
	case a.finish == finishAbort:
		return kernels.Completion{}, errAborted
	case a.tokens == nil:
		return kernels.Completion{}, errors.New("the answer has no token ids: training needs vLLM 0.10.2 or newer (return_token_ids), vLLM with --return-tokens-as-token-ids, or SGLang")
	case a.logProbs == nil:
		return kernels.Completion{}, errors.New("the answer has no log-probabilities: training needs them (vLLM: --max-logprobs must not be negative; SGLang: return_logprob)")
	case len(a.logProbs) != len(a.tokens):
		return kernels.Completion{}, fmt.Errorf("the answer has %d tokens and %d log-probabilities", len(a.tokens), len(a.logProbs))
	case a.prompt != nil && !slices.Equal(a.prompt, r.prompt):
		return kernels.Completion{}, fmt.Errorf("the server was prompted with %d tokens that are not the %d sent", len(a.prompt), len(r.prompt))
	case a.promptTokens != nil && *a.promptTokens != len(r.prompt):
		return kernels.Completion{}, fmt.Errorf("the server counts %d prompt tokens, %d were sent", *a.promptTokens, len(r.prompt))
	case a.sampledTokens != nil && *a.sampledTokens != len(a.tokens):
		return kernels.Completion{}, fmt.Errorf("the server counts %d sampled tokens, and returns %d", *a.sampledTokens, len(a.tokens))
	}
	c := kernels.Completion{
		Tokens:   a.tokens,
		LogProbs: make([]float32, len(a.tokens)),
		Versions: make([]int32, len(a.tokens)),
	}
	for i, id := range a.tokens {
		if id < 0 || vocabulary > 0 && int(id) >= vocabulary {
			return kernels.Completion{}, fmt.Errorf("sampled token %d is %d, the vocabulary has %d", i, id, vocabulary)
		}
		if !realLogProb(a.logProbs[i]) {
			return kernels.Completion{}, fmt.Errorf("the log-probability of sampled token %d is %s", i, spell(a.logProbs[i]))
		}
		if r.sampling.Temperature != 0 { // else the most probable token has probability 1
			c.LogProbs[i] = float32(*a.logProbs[i])
		}
		c.Versions[i] = int32(version)
	}
	stopped, err := ending(a, r)
	c.Stopped = stopped
	return c, err
}

// ending checks that a completion ended where its reason says, and returns whether
// its last token is a stop id. SGLang says "length" of a stop id in the last place.
func ending(a *answer, r *request) (stopped bool, err error) {
	n := len(a.tokens)
	if n == 0 || n > r.maxTokens {
		return false, fmt.Errorf("the answer has %d tokens, not 1 to %d", n, r.maxTokens)
	}
	if i := slices.IndexFunc(a.tokens, func(id int32) bool { return slices.Contains(r.sampling.Stop, id) }); i >= 0 {
		if i < n-1 {
			return false, fmt.Errorf("sampled token %d is the stop id %d, and %d follow it", i, a.tokens[i], n-1-i)
		}
		stopped = true
	}
	switch a.finish {
	case finishStop:
		if !stopped {
			return false, fmt.Errorf("finish reason is %s, but the last token %d is not a stop id", a.finish, a.tokens[n-1])
		}
	case finishLength:
		if n != r.maxTokens {
			return false, fmt.Errorf("finish reason is %s after %d tokens, %d were asked for", a.finish, n, r.maxTokens)
		}
	default:
		return false, fmt.Errorf("finish reason is %q, want %s or %s", a.finish, finishStop, finishLength)
	}
	return stopped, nil
}

// evaluated makes a completion for counting and reading alone: see Evaluation in the
// package's doc. Ids are taken where the server gives them; else its text is encoded,
// and cut to the tokens asked for.
func (a *answer) evaluated(r *request, encode func(string) []int32) (kernels.Completion, error) {
	if a.finish == finishAbort {
		return kernels.Completion{}, errAborted
	}
	if a.tokens == nil {
		a.tokens = encode(a.text)
		if a.finish == finishStop && len(r.sampling.Stop) > 0 {
			a.tokens = append(a.tokens, r.sampling.Stop[0])
		}
		if n := len(a.tokens); n >= r.maxTokens || a.finish == finishLength {
			a.tokens = a.tokens[:min(n, r.maxTokens)]
			a.finish, r.maxTokens = finishLength, len(a.tokens)
		}
	}
	stopped, err := ending(a, r)
	if err != nil {
		return kernels.Completion{}, err
	}
	c := kernels.Completion{
		Tokens:   a.tokens,
		LogProbs: make([]float32, len(a.tokens)),
		Versions: make([]int32, len(a.tokens)),
		Stopped:  stopped,
	}
	for i := range c.Versions {
		c.Versions[i] = int32(none)
	}
	return c, nil
}

func spell(p *float64) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprint(*p)
}
