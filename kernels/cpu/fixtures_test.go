package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"millrace/kernels"
)

// tiny is a model in which no two sizes that could be confused are equal: the
// heads together are wider than the hidden size.
func tiny(tied bool) kernels.Config {
	return kernels.Config{
		VocabSize: 23, HiddenSize: 12, IntermediateSize: 20, NumHiddenLayers: 2,
		NumAttentionHeads: 4, NumKeyValueHeads: 2, HeadDim: 6, MaxPositionEmbeddings: 400,
		RMSNormEps: 1e-6, RopeTheta: 1e4, TieWordEmbeddings: tied,
	}
}

// randomWeights are larger than an untrained model's, so that every path
// matters.
func randomWeights(t testing.TB, cfg kernels.Config, seed uint64) []kernels.Tensor {
	t.Helper()
	w, err := InitWeights(cfg, seed)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 99))
	for _, x := range w {
		for i := range x.Data {
			x.Data[i] = float32(0.3 * r.NormFloat64())
			if len(x.Shape) == 1 {
				x.Data[i]++
			}
		}
	}
	return w
}

func randomTokens(r *rand.Rand, n, vocab int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(r.IntN(vocab))
	}
	return x
}

func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// randomBatch has sequences of the given lengths, about half of whose tokens are
// trained, with behaviour and reference log-probabilities near the model's own.
// Untrained tokens carry NaN in both.
func randomBatch(r *rand.Rand, w *twin, temperature float64, lengths ...int) []kernels.Sequence {
	var batch []kernels.Sequence
	for _, n := range lengths {
		q := kernels.Sequence{
			ID: "random", Tokens: randomTokens(r, n, w.cfg.VocabSize), Mask: make([]bool, n),
			LogProbs: make([]float32, n), Reference: make([]float32, n), Advantage: r.NormFloat64(),
		}
		logProbs, _ := w.logProbs(q.Tokens, temperature)
		for t := range n {
			q.Mask[t] = t == 1 || t > 1 && r.IntN(2) == 0
			q.LogProbs[t], q.Reference[t] = float32(math.NaN()), float32(math.NaN())
			if q.Mask[t] {
				q.LogProbs[t] = float32(logProbs[t] + 0.3*r.NormFloat64())
				q.Reference[t] = float32(logProbs[t] + 0.3*r.NormFloat64())
			}
		}
		batch = append(batch, q)
	}
	return batch
}

func mustTrainer(t testing.TB, cfg kernels.Config, weights []kernels.Tensor) *trainer {
	t.Helper()
	trainer, err := newTrainer(cfg, weights)
	if err != nil {
		t.Fatal(err)
	}
	return trainer
}

func mustAccumulate(t testing.TB, trainer kernels.Trainer, batch []kernels.Sequence, loss kernels.Loss) kernels.Statistics {
	t.Helper()
	stats, err := trainer.Accumulate(t.Context(), batch, loss)
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

func mustLogProbs(t testing.TB, trainer *trainer, temperature float64, sequences ...[]int32) [][]float32 {
	t.Helper()
	var batch []kernels.Sequence
	for _, s := range sequences {
		batch = append(batch, kernels.Sequence{Tokens: s})
	}
	logProbs, err := trainer.LogProbs(t.Context(), batch, temperature)
	if err != nil {
		t.Fatal(err)
	}
	return logProbs
}

// equalBits fails when the two differ, NaN being equal to itself.
func equalBits(t testing.TB, what string, a, b []float32) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%s: %d and %d elements", what, len(a), len(b))
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			t.Fatalf("%s: element %d is %v and %v", what, i, a[i], b[i])
		}
	}
}

var policyLoss = kernels.Loss{ClipLow: 0.2, ClipHigh: 0.28, Divisor: 40}

var adam = kernels.AdamW{LearningRate: 1e-2, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8, WeightDecay: 0.1, ClipNorm: 1}
