package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/kernels"
	"millrace/kernels/cpu/gemm/workers"
	"millrace/kernels/kernelstest"
)

// batchOf is a trainer and a batch for it.
func batchOf(t *testing.T, lengths ...int) (*trainer, []kernels.Sequence) {
	cfg := tiny(true)
	weights := randomWeights(t, cfg, 5)
	return mustTrainer(t, cfg, weights), randomBatch(rand.New(rand.NewPCG(8, 9)), newTwin(cfg, weights), 1, lengths...)
}

// gradientOf accumulates the batch alone and returns a copy of the gradients.
func gradientOf(t *testing.T, trainer *trainer, batch []kernels.Sequence, loss kernels.Loss) ([]float32, kernels.Statistics) {
	clear(trainer.grads.arena)
	stats := mustAccumulate(t, trainer, batch, loss)
	return slices.Clone(trainer.grads.arena), stats
}

// TestUntrainedTokensChangeNothing: any value at a token outside the mask gives
// the same bits.
func TestUntrainedTokensChangeNothing(t *testing.T) {
	trainer, batch := batchOf(t, 20, 70, 5)
	loss := policyLoss
	loss.KLCoefficient, loss.TruncatedIS, loss.PerSequenceMean = 0.1, 2, true
	want, wantStats := gradientOf(t, trainer, batch, loss)
	for _, v := range []float32{0, -3, 1e30, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())} {
		for _, q := range batch {
			for i := range q.Tokens {
				if !q.Mask[i] {
					q.LogProbs[i], q.Reference[i] = v, v
				}
			}
		}
		got, stats := gradientOf(t, trainer, batch, loss)
		equalBits(t, "gradients", got, want)
		if stats != wantStats {
			t.Errorf("with %v statistics are %+v, want %+v", v, stats, wantStats)
		}
	}
}

// TestNothingTrained: a batch without a trained token has no gradient, whatever
// its advantages.
func TestNothingTrained(t *testing.T) {
	trainer, batch := batchOf(t, 20, 5)
	for i := range batch {
		clear(batch[i].Mask)
	}
	got, stats := gradientOf(t, trainer, batch, policyLoss)
	if stats != (kernels.Statistics{Tokens: 25}) {
		t.Errorf("statistics %+v", stats)
	}
	equalBits(t, "gradients", got, make([]float32, len(got)))
}

// TestPacking: a sequence's log-probabilities have the same bits alone and at
// any place in a pack; gradients of a pack are those of its sequences, summed.
func TestPacking(t *testing.T) {
	trainer, batch := batchOf(t, 20, 70, 5, 1, 130)
	var tokens [][]int32
	for _, q := range batch {
		tokens = append(tokens, q.Tokens)
	}
	together := mustLogProbs(t, trainer, 0.8, tokens...)
	for i := range tokens {
		equalBits(t, "alone", mustLogProbs(t, trainer, 0.8, tokens[i])[0], together[i])
	}
	slices.Reverse(tokens)
	reversed := mustLogProbs(t, trainer, 0.8, tokens...)
	for i := range reversed {
		equalBits(t, "reversed", reversed[i], together[len(together)-1-i])
	}

	batch = slices.Delete(batch, 3, 4) // one token has nothing to train
	whole, wholeStats := gradientOf(t, trainer, batch, policyLoss)
	slices.Reverse(batch)
	clear(trainer.grads.arena)
	var stats kernels.Statistics
	for i := range batch {
		stats.Add(mustAccumulate(t, trainer, batch[i:i+1], policyLoss))
	}
	kernelstest.NearValues(t, "gradients by micro-batch", trainer.grads.arena, whole, 1e-6)
	if stats.Tokens != wholeStats.Tokens || stats.TrainedTokens != wholeStats.TrainedTokens ||
		math.Abs(stats.Loss-wholeStats.Loss) > 1e-12 || math.Abs(stats.Ratio-wholeStats.Ratio) > 1e-9 ||
		stats.Clipped != wholeStats.Clipped || stats.MaxAbsLogProbDiff != wholeStats.MaxAbsLogProbDiff {
		t.Errorf("statistics by micro-batch %+v, want %+v", stats, wholeStats)
	}
}

// TestCausality: a token changes no prediction before its own.
func TestCausality(t *testing.T) {
	trainer, batch := batchOf(t, 150)
	tokens := batch[0].Tokens
	want := mustLogProbs(t, trainer, 1, tokens)[0]
	for _, at := range []int{1, 63, 64, 65, 128, 149} {
		changed := slices.Clone(tokens)
		changed[at] = (changed[at] + 1) % int32(trainer.cfg.VocabSize)
		got := mustLogProbs(t, trainer, 1, changed)[0]
		equalBits(t, "before the change", got[:at], want[:at])
		if got[at] == want[at] {
			t.Errorf("token %d does not change its own log-probability", at)
		}
	}
}

// TestThreadsDoNotShow: a step has the same bits on any number of threads.
func TestThreadsDoNotShow(t *testing.T) {
	before := workers.Threads()
	t.Cleanup(func() { workers.SetThreads(before) })
	var want []float32
	for _, threads := range []int{1, 2, 5} {
		workers.SetThreads(threads)
		trainer, batch := batchOf(t, 20, 70, 5, 130, 2, 64)
		loss := policyLoss
		loss.EntropyCoefficient = 0.01
		mustAccumulate(t, trainer, batch[:3], loss)
		mustAccumulate(t, trainer, batch[3:], loss)
		if _, err := trainer.Step(adam); err != nil {
			t.Fatal(err)
		}
		got := append(slices.Clone(trainer.model.weights.arena), trainer.v.arena...)
		if want == nil {
			want = got
		}
		equalBits(t, "weights and second moments", got, want)
	}
}
