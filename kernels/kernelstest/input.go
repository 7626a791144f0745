package kernelstest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"millrace/kernels"
)

// masked: whatever stands in LogProbs or Reference at a token that is not trained, NaN
// included, changes no bit.
func masked(t *testing.T, b Backend) {
	r := Load(t, b.Reference, "tied")
	run := func(batch []kernels.Sequence) []kernels.Tensor {
		trainer := b.New(t, r.Config, r.Tensors())
		accumulate(t, trainer, batch, r.Loss(0))
		return gradients(t, trainer)
	}
	strange := r.Batch()
	for i := range strange {
		q := &strange[i]
		q.LogProbs, q.Reference = slices.Clone(q.LogProbs), slices.Clone(q.Reference)
		for j, trained := range q.Mask {
			if !trained {
				q.LogProbs[j], q.Reference[j] = float32(math.NaN()), float32(math.Inf(1))
			}
		}
	}
	EqualBits(t, run(r.Batch()), run(strange))
}

// skips: an infinite ratio leaves weights, moments and step count alone, names its
// sequence, and the next step knows nothing of it.
func skips(t *testing.T, b Backend) {
	r := Load(t, b.Reference, "tied")
	trainer := b.New(t, r.Config, r.Tensors())
	before := clone(weights(t, trainer))
	bad := r.Batch()
	bad[1].Advantage = -1
	bad[1].LogProbs = slices.Repeat([]float32{-2000}, len(bad[1].Tokens))
	accumulate(t, trainer, bad, kernels.Loss{Divisor: 1})
	result, err := trainer.Step(r.Optimizer())
	if err != nil || !result.Skipped || !math.IsInf(result.GradNorm, 0) && !math.IsNaN(result.GradNorm) || !slices.Equal(result.NotFinite, []string{"s1"}) {
		t.Errorf("step gives %+v, %v, want it skipped by s1", result, err)
	}
	EqualBits(t, before, weights(t, trainer))
	if _, step, err := trainer.State(); step != 0 || err != nil {
		t.Errorf("step count is %d, error %v", step, err)
	}
	fresh := b.New(t, r.Config, r.Tensors())
	advance(t, trainer, r)
	advance(t, fresh, r)
	EqualBits(t, weights(t, fresh), weights(t, trainer))
}

// names: each error names what is wrong with which sequence, and nothing was added.
func names(t *testing.T, b Backend) {
	r := Load(t, b.Reference, "tied")
	trainer := b.New(t, r.Config, r.Tensors())
	good, n := r.Batch()[1], len(r.Batch()[1].Tokens)
	good.ID = "s17"
	nan := float32(math.NaN())
	for _, c := range []struct {
		want   string
		change func(q *kernels.Sequence, l *kernels.Loss)
	}{
		{"no tokens", func(q *kernels.Sequence, _ *kernels.Loss) { q.Tokens = nil }},
		{"the model reaches 128", func(q *kernels.Sequence, _ *kernels.Loss) { q.Tokens = make([]int32, 129) }},
		{"token 3 is 17", func(q *kernels.Sequence, _ *kernels.Loss) { q.Tokens[3] = 17 }},
		{"token 3 is -1", func(q *kernels.Sequence, _ *kernels.Loss) { q.Tokens[3] = -1 }},
		{"a mask of 8", func(q *kernels.Sequence, _ *kernels.Loss) { q.Mask = q.Mask[:n-1] }},
		{"first token", func(q *kernels.Sequence, _ *kernels.Loss) { q.Mask[0] = true }},
		{"8 behaviour", func(q *kernels.Sequence, _ *kernels.Loss) { q.LogProbs = q.LogProbs[:n-1] }},
		{"8 reference", func(q *kernels.Sequence, _ *kernels.Loss) { q.Reference = q.Reference[:n-1] }},
		{"behaviour log-probability NaN at trained token 1", func(q *kernels.Sequence, _ *kernels.Loss) { q.LogProbs[1] = nan }},
		{"advantage NaN", func(q *kernels.Sequence, _ *kernels.Loss) { q.Advantage = math.NaN() }},
		{"no reference", func(q *kernels.Sequence, l *kernels.Loss) { q.Reference, l.KLCoefficient = nil, 1 }},
		{"divisor is 0", func(_ *kernels.Sequence, l *kernels.Loss) { l.Divisor = 0 }},
		{"temperature is -1", func(_ *kernels.Sequence, l *kernels.Loss) { l.Temperature = -1 }},
	} {
		q, l := good, r.Loss(0)
		q.Tokens, q.Mask, q.LogProbs = slices.Clone(q.Tokens), slices.Clone(q.Mask), slices.Clone(q.LogProbs)
		c.change(&q, &l)
		ofLoss := l.Divisor == 0 || l.Temperature < 0
		_, err := trainer.Accumulate(t.Context(), []kernels.Sequence{q}, l)
		if err == nil || !strings.Contains(err.Error(), c.want) || !ofLoss && !strings.Contains(err.Error(), "s17") {
			t.Errorf("error is %v, want one with %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := trainer.Accumulate(ctx, []kernels.Sequence{good}, r.Loss(0)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for _, g := range gradients(t, trainer) {
		if i := slices.IndexFunc(g.Data, func(x float32) bool { return x != 0 }); i >= 0 {
			t.Errorf("refused sequences added to the gradient of %s", g.Name)
		}
	}
	for _, o := range []kernels.AdamW{{LearningRate: -1, Epsilon: 1e-8}, {Beta1: 1, Epsilon: 1e-8}, {Beta2: -0.1, Epsilon: 1e-8}, {}} {
		if _, err := trainer.Step(o); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
	if _, err := trainer.LogProbs(t.Context(), []kernels.Sequence{good}, 0); err == nil {
		t.Error("no error for log-probabilities at temperature 0")
	}
}
