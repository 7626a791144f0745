package rollout

import (
	"fmt"

	"millrace/kernels"
	"millrace/schemas"
)

// transcript is the token sequence of one trajectory as the policy's session
// holds it. All four slices have equal length.
//
// Invariant: session.Len() == len(tokens) - len(pending), where pending are the
// tokens appended since the last completion.
type transcript struct {
	tokens   []int32
	mask     []bool
	logProbs []float32
	versions []int32
	pending  int
}

// give appends tokens that the environment wrote.
func (t *transcript) give(tokens []int32) {
	for _, id := range tokens {
		t.append(id, false, 0, -1)
	}
	t.pending += len(tokens)
}

// prompt returns the tokens the policy has not seen yet.
func (t *transcript) prompt() []int32 { return t.tokens[len(t.tokens)-t.pending:] }

// take appends a completion of the policy, which may have limit tokens. sessionLen is the length of the
// policy's own sequence afterwards; a difference means that the policy was not
// conditioned on these tokens, and the trajectory must not be trained on.
func (t *transcript) take(c kernels.Completion, limit, sessionLen int) error {
	if len(c.LogProbs) != len(c.Tokens) || len(c.Versions) != len(c.Tokens) {
		return fmt.Errorf("completion has %d tokens, %d log-probs and %d versions", len(c.Tokens), len(c.LogProbs), len(c.Versions))
	}
	if len(c.Tokens) == 0 || len(c.Tokens) > limit {
		return fmt.Errorf("completion has %d tokens, not 1 to %d", len(c.Tokens), limit)
	}
	for i, id := range c.Tokens {
		// What carries no policy version was sampled for evaluation alone: without
		// its log-probability it cannot be trained on.
		t.append(id, c.Versions[i] >= 0, c.LogProbs[i], c.Versions[i])
	}
	t.pending = 0
	if sessionLen != len(t.tokens) {
		return fmt.Errorf("policy holds %d tokens, the trajectory %d", sessionLen, len(t.tokens))
	}
	return nil
}

func (t *transcript) append(id int32, sampled bool, logProb float32, version int32) {
	t.tokens = append(t.tokens, id)
	t.mask = append(t.mask, sampled)
	t.logProbs = append(t.logProbs, logProb)
	t.versions = append(t.versions, version)
}

// store hands the sequence to a trajectory. Tokens that no turn followed
// (an observation after the last turn) are left off: nothing was sampled after
// them, so they teach nothing.
func (t *transcript) store(to *schemas.Trajectory) {
	n := len(t.tokens) - t.pending
	if n == 0 { // nothing was sampled: keep the prompt, it explains the ending
		n = len(t.tokens)
	}
	to.Tokens, to.LossMask = t.tokens[:n], t.mask[:n]
	to.LogProbs, to.Versions = t.logProbs[:n], t.versions[:n]
}
