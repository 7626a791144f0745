package cpu

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"millrace/kernels"
)

// TestAdamW follows three steps of the trainer with AdamW's formula in float64,
// on the trainer's own gradients. float32 settings and operations err by some
// 1e-7 of an update, whose size is about the learning rate.
func TestAdamW(t *testing.T) {
	trainer, batch := batchOf(t, 20, 70, 5)
	n := len(trainer.grads.arena)
	w, m, v := float64s(trainer.model.weights.arena), make([]float64, n), make([]float64, n)
	var decayed []bool
	for _, tensor := range tensorsOf(t, trainer) {
		decayed = append(decayed, slices.Repeat([]bool{!isNorm(tensor.Name)}, len(tensor.Data))...)
	}
	o := adam
	for step := 1; step <= 3; step++ {
		o.ClipNorm = []float64{0, 0.01, 1e6, 1}[step]
		mustAccumulate(t, trainer, batch, policyLoss)
		g := float64s(trainer.grads.arena)
		var norm float64
		for _, x := range g {
			norm += x * x
		}
		norm = math.Sqrt(norm)
		clip := 1.0
		if norm > o.ClipNorm {
			clip = o.ClipNorm / norm
		}
		for i, x := range g {
			x *= clip
			m[i] = o.Beta1*m[i] + (1-o.Beta1)*x
			v[i] = o.Beta2*v[i] + (1-o.Beta2)*x*x
			update := m[i] / (1 - math.Pow(o.Beta1, float64(step))) / (math.Sqrt(v[i]/(1-math.Pow(o.Beta2, float64(step)))) + o.Epsilon)
			if decayed[i] {
				update += o.WeightDecay * w[i]
			}
			w[i] -= o.LearningRate * update
		}
		result, err := trainer.Step(o)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(result.GradNorm-norm) > 1e-6*norm || result.Skipped {
			t.Errorf("step %d: %+v, want norm %v", step, result, norm)
		}
		for i, got := range trainer.model.weights.arena {
			// The clip factor differs by clipEpsilon/norm, and Adam hides it.
			if math.Abs(float64(got)-w[i]) > 1e-6*math.Abs(w[i])+1e-4*o.LearningRate {
				t.Fatalf("step %d: weight %d is %v, want %v", step, i, got, w[i])
			}
		}
	}
}

// tensorsOf are the trainer's weights in memory.
func tensorsOf(t testing.TB, trainer kernels.Trainer) []kernels.Tensor {
	t.Helper()
	tensors, err := trainer.Weights().Tensors()
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}

func clone(tensors []kernels.Tensor) []kernels.Tensor {
	tensors = slices.Clone(tensors)
	for i := range tensors {
		tensors[i].Data = slices.Clone(tensors[i].Data)
	}
	return tensors
}

// TestBadInput: each error names what is wrong with which sequence.
func TestBadInput(t *testing.T) {
	trainer, batch := batchOf(t, 20)
	nan := float32(math.NaN())
	good := batch[0]
	good.ID = "s17"
	for _, c := range []struct {
		want   string
		change func(q *kernels.Sequence, l *kernels.Loss)
	}{
		{"no tokens", func(q *kernels.Sequence, _ *kernels.Loss) { q.Tokens = nil }},
		{"the model reaches 400", func(q *kernels.Sequence, _ *kernels.Loss) { q.Tokens = make([]int32, 401) }},
		{"token 3 is 23", func(q *kernels.Sequence, _ *kernels.Loss) { q.Tokens[3] = 23 }},
		{"token 3 is -1", func(q *kernels.Sequence, _ *kernels.Loss) { q.Tokens[3] = -1 }},
		{"mask of 19", func(q *kernels.Sequence, _ *kernels.Loss) { q.Mask = q.Mask[1:] }},
		{"first token", func(q *kernels.Sequence, _ *kernels.Loss) { q.Mask[0] = true }},
		{"19 behaviour", func(q *kernels.Sequence, _ *kernels.Loss) { q.LogProbs = q.LogProbs[1:] }},
		{"19 reference", func(q *kernels.Sequence, _ *kernels.Loss) { q.Reference = q.Reference[1:] }},
		{"behaviour log-probability NaN at trained token 1", func(q *kernels.Sequence, _ *kernels.Loss) { q.LogProbs[1] = nan }},
		{"advantage NaN", func(q *kernels.Sequence, _ *kernels.Loss) { q.Advantage = math.NaN() }},
		{"no reference", func(q *kernels.Sequence, l *kernels.Loss) { q.Reference, l.KLCoefficient = nil, 1 }},
		{"divisor is 0", func(_ *kernels.Sequence, l *kernels.Loss) { l.Divisor = 0 }},
		{"temperature is -1", func(_ *kernels.Sequence, l *kernels.Loss) { l.Temperature = -1 }},
		{"clips at -2", func(_ *kernels.Sequence, l *kernels.Loss) { l.ClipLow = -2 }},
		{"truncates importance weights at -1", func(_ *kernels.Sequence, l *kernels.Loss) { l.TruncatedIS = -1 }},
	} {
		q, l := good, policyLoss
		q.Tokens, q.Mask = slices.Clone(q.Tokens), slices.Clone(q.Mask)
		q.LogProbs, q.Reference = slices.Clone(q.LogProbs), slices.Clone(q.Reference)
		c.change(&q, &l)
		_, err := trainer.Accumulate(t.Context(), []kernels.Sequence{q}, l)
		if err == nil || !strings.Contains(err.Error(), c.want) || l == policyLoss && !strings.Contains(err.Error(), "s17") {
			t.Errorf("error is %v, want one with %q", err, c.want)
		}
	}
	equalBits(t, "gradients", trainer.grads.arena, make([]float32, len(trainer.grads.arena)))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := trainer.Accumulate(ctx, []kernels.Sequence{good}, policyLoss); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
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

// TestModelMustFit: constructors refuse shapes and tensors that do not fit.
func TestModelMustFit(t *testing.T) {
	cfg := tiny(false)
	weights := randomWeights(t, cfg, 1)
	for _, c := range []struct {
		want   string
		change func(c *kernels.Config, w []kernels.Tensor) []kernels.Tensor
	}{
		{"lm_head.weight is no part", func(c *kernels.Config, w []kernels.Tensor) []kernels.Tensor { c.TieWordEmbeddings = true; return w }},
		{"embed_tokens.weight is missing", func(_ *kernels.Config, w []kernels.Tensor) []kernels.Tensor { return w[1:] }},
		{"given twice", func(_ *kernels.Config, w []kernels.Tensor) []kernels.Tensor { return append(w, w[0]) }},
		{"has shape [23 12]", func(c *kernels.Config, w []kernels.Tensor) []kernels.Tensor { c.VocabSize = 24; return w }},
		{"head_dim 7 is odd", func(c *kernels.Config, w []kernels.Tensor) []kernels.Tensor { c.HeadDim = 7; return w }},
		{"no multiple", func(c *kernels.Config, w []kernels.Tensor) []kernels.Tensor { c.NumKeyValueHeads = 3; return w }},
		{"hidden_size is 0", func(c *kernels.Config, w []kernels.Tensor) []kernels.Tensor { c.HiddenSize = 0; return w }},
		{"rms_norm_eps", func(c *kernels.Config, w []kernels.Tensor) []kernels.Tensor { c.RMSNormEps = 0; return w }},
		{"rope_theta", func(c *kernels.Config, w []kernels.Tensor) []kernels.Tensor { c.RopeTheta = 0; return w }},
	} {
		changed := cfg
		w := c.change(&changed, slices.Clone(weights))
		if _, err := NewTrainer(changed, w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("trainer's error is %v, want one with %q", err, c.want)
		}
		if _, err := NewGenerator(changed, w, 0, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("generator's error is %v, want one with %q", err, c.want)
		}
	}
}

// TestInitWeights: seeds decide the bits, norms are 1, deviations as told.
func TestInitWeights(t *testing.T) {
	cfg := tiny(false)
	cfg.VocabSize, cfg.HiddenSize = 300, 64
	w, err := InitWeights(cfg, 3)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := InitWeights(cfg, 3)
	other, _ := InitWeights(cfg, 4)
	for i, x := range w {
		equalBits(t, x.Name, again[i].Data, x.Data)
		if isNorm(x.Name) {
			equalBits(t, x.Name, x.Data, slices.Repeat([]float32{1}, len(x.Data)))
			continue
		}
		if slices.Equal(x.Data, other[i].Data) {
			t.Errorf("%s is the same for two seeds", x.Name)
		}
		want := 0.02
		if strings.Contains(x.Name, "o_proj") || strings.Contains(x.Name, "down_proj") {
			want = 0.01 // 0.02/sqrt(2*2)
		}
		var s float64
		for _, v := range x.Data {
			s += float64(v) * float64(v)
		}
		// The relative deviation of an estimate from n samples is 1/sqrt(2n).
		n := float64(len(x.Data))
		if got := math.Sqrt(s / n); math.Abs(got/want-1) > 5/math.Sqrt(2*n) {
			t.Errorf("%s has deviation %v, want %v", x.Name, got, want)
		}
	}
}
