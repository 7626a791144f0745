package remote

import (
	"context"
	"fmt"
	"net/http"
)

// transforms tells whether the settings sample from another distribution than the
// policy's own. Temperature 0 does not: its log-probability is 0 by definition.
func transforms(r *request) bool {
	s := r.sampling
	return s.Temperature != 0 && (s.Temperature != 1 || cuts(r))
}

func cuts(r *request) bool { return r.sampling.TopK > 0 || r.sampling.TopP > 0 && r.sampling.TopP < 1 }

// kind is 0 to 3: whether the temperature is not 1, and whether the distribution is
// cut.
func kind(r *request) int {
	k := 0
	if r.sampling.Temperature != 1 {
		k = 1
	}
	if cuts(r) {
		k += 2
	}
	return k
}

// probeTokens is how many tokens must all have probability 1 in the probe; that
// eight have it by chance, no policy that is worth training does.
const probeTokens = 8

// reports asks for tokens from the most probable one alone. Under the distribution
// sampled from each has probability 1. vLLM's default, --logprobs-mode
// raw_logprobs, takes the log-probability before temperature and cuts, which is the
// same only without them.
func (d openAI) reports(ctx context.Context, c *caller, r *request) error {
	if !transforms(r) {
		return nil
	}
	probe := *r
	probe.prompt, probe.maxTokens = r.prompt[:1], probeTokens
	probe.sampling.Temperature, probe.sampling.TopK, probe.sampling.TopP, probe.sampling.Stop = 1, 1, 0, []int32{}
	path, body, err := d.ask(&probe)
	if err != nil {
		return err
	}
	text, err := c.call(ctx, http.MethodPost, path, probe.header(), body, bound(&probe))
	if err != nil {
		return fmt.Errorf("probing the log-probabilities: %w", err)
	}
	a, err := d.read(text)
	if err != nil {
		return fmt.Errorf("policy server %s: probing the log-probabilities: %w", c.base, err)
	}
	if len(a.logProbs) != probeTokens {
		return fmt.Errorf("policy server %s: the probe of the log-probabilities returned %d of %d", c.base, len(a.logProbs), probeTokens)
	}
	for _, p := range a.logProbs {
		if p == nil || *p < -probeError || *p > probeError {
			return fmt.Errorf("policy server %s: its log-probabilities leave out temperature, top_k and top_p, but temperature is %g, top_k %d, top_p %g: start vLLM with --logprobs-mode processed_logprobs",
				c.base, r.sampling.Temperature, r.sampling.TopK, r.sampling.TopP)
		}
	}
	return nil
}

// probeError is how far log 1 may be from 0 in float32.
const probeError = 1e-5
