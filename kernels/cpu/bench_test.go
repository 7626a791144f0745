package cpu

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"millrace/kernels"
	"millrace/kernels/cpu/gemm"
)

// benchPolicy has the size of the default policy.
var benchPolicy = kernels.Config{
	VocabSize: 1536, HiddenSize: 128, IntermediateSize: 384, NumHiddenLayers: 6,
	NumAttentionHeads: 4, NumKeyValueHeads: 2, HeadDim: 32, MaxPositionEmbeddings: 2048,
	RMSNormEps: 1e-6, RopeTheta: 1e6, TieWordEmbeddings: true,
}

// matrixFLOP is the cost of a token in matrix products, forward: 2 per weight
// of every matrix, the head included.
func matrixFLOP(c kernels.Config) float64 {
	s := newShape(c)
	perLayer := s.hidden*s.qkvWidth + s.hidden*s.outWidth + 3*s.hidden*s.inter
	return 2 * float64(s.layers*perLayer+s.vocab*s.hidden)
}

// attentionFLOP is the cost of a token that sees n keys, forward: q k^T and p v.
func attentionFLOP(c kernels.Config, n float64) float64 {
	return 4 * float64(c.NumHiddenLayers*c.NumAttentionHeads*c.HeadDim) * n
}

// sgemmRate is FLOP/s of a 512 x 512 x 512 product on all threads, the yardstick
// of the other rates: the best of several short runs.
func sgemmRate() float64 {
	const n = 512
	a, b, c := make([]float32, n*n), make([]float32, n*n), make([]float32, n*n)
	for i := range a {
		a[i], b[i] = rand.Float32(), rand.Float32()
	}
	best := time.Duration(1 << 62)
	for range 40 {
		start := time.Now()
		gemm.Gemm(false, false, n, n, n, a, n, b, n, c, n, false)
		best = min(best, time.Since(start))
	}
	return 2 * n * n * n / best.Seconds()
}

// BenchmarkUpdate is a whole optimizer step on 16 sequences of 600 tokens, all
// trained, in micro-batches of 4. Counted are 3 times the forward FLOP: what
// attention computes again in its backward pass is not.
func BenchmarkUpdate(b *testing.B) {
	const sequences, length, micro = 16, 600, 4
	weights, err := InitWeights(benchPolicy, 1)
	if err != nil {
		b.Fatal(err)
	}
	trainer, err := NewTrainer(benchPolicy, weights)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var batch []kernels.Sequence
	for range sequences {
		q := kernels.Sequence{Tokens: randomTokens(r, length, benchPolicy.VocabSize), Mask: make([]bool, length), LogProbs: make([]float32, length), Advantage: r.NormFloat64()}
		for t := 1; t < length; t++ {
			q.Mask[t] = true
			q.LogProbs[t] = -7
		}
		batch = append(batch, q)
	}
	loss := kernels.Loss{ClipLow: 0.2, ClipHigh: 0.28, Divisor: sequences * length}
	yardstick := sgemmRate()
	b.ResetTimer()
	for b.Loop() {
		for at := 0; at < sequences; at += micro {
			if _, err := trainer.Accumulate(b.Context(), batch[at:at+micro], loss); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := trainer.Step(kernels.AdamW{LearningRate: 1e-6, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-8, ClipNorm: 1}); err != nil {
			b.Fatal(err)
		}
	}
	tokens := float64(b.N) * sequences * length
	flop := 3 * (matrixFLOP(benchPolicy) + attentionFLOP(benchPolicy, (length+1)/2.0))
	report(b, tokens/b.Elapsed().Seconds(), flop, max(yardstick, sgemmRate()))
}

// report tells a rate in tokens a second, of flop each.
func report(b *testing.B, rate, flop, yardstick float64) {
	b.ReportMetric(rate, "tokens/s")
	b.ReportMetric(rate*flop/1e9, "GFLOP/s")
	b.ReportMetric(yardstick/1e9, "SGEMM-GFLOP/s")
	b.ReportMetric(100*rate*flop/yardstick, "%SGEMM")
}

func BenchmarkDecode32(b *testing.B) { benchmarkDecode(b, 32) }
func BenchmarkDecode64(b *testing.B) { benchmarkDecode(b, 64) }

// benchmarkDecode samples 256 tokens in each of n sequences of 472, so that the
// context is 600 on average. Reading the prompts is not counted.
func benchmarkDecode(b *testing.B, n int) {
	const prompt, sampled = 472, 256
	weights, err := InitWeights(benchPolicy, 1)
	if err != nil {
		b.Fatal(err)
	}
	g, err := NewGenerator(benchPolicy, weights, 0, Options{PrefillTokens: 4096})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	r := rand.New(rand.NewPCG(1, 2))
	yardstick := sgemmRate()
	var spent time.Duration
	for b.Loop() {
		open := make([]kernels.Session, n)
		generate := func(each func(i int) ([]int32, int)) {
			var wg sync.WaitGroup
			for i, s := range open {
				tokens, most := each(i)
				wg.Go(func() {
					if _, err := s.Generate(b.Context(), tokens, kernels.Sampling{Temperature: 1, MaxTokens: most, Seed: uint64(i)}); err != nil {
						b.Error(err)
					}
				})
			}
			wg.Wait()
		}
		for i := range open {
			if open[i], err = g.Open(); err != nil {
				b.Fatal(err)
			}
		}
		generate(func(int) ([]int32, int) { return randomTokens(r, prompt-1, benchPolicy.VocabSize), 1 })
		start := time.Now()
		generate(func(int) ([]int32, int) { return nil, sampled })
		spent += time.Since(start)
		for _, s := range open {
			s.Close()
		}
	}
	tokens := float64(b.N * n * sampled)
	flop := matrixFLOP(benchPolicy) + attentionFLOP(benchPolicy, prompt+sampled/2)
	report(b, tokens/spent.Seconds(), flop, max(yardstick, sgemmRate()))
}
