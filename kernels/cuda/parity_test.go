package cuda

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/cpu"
	"millrace/kernels/kernelstest"
)

// model has no two sizes that could be confused, heads that are together wider than
// the hidden size, and none a multiple of a tile.
var model = kernels.Config{
	VocabSize: 37, HiddenSize: 20, IntermediateSize: 28, NumHiddenLayers: 3,
	NumAttentionHeads: 4, NumKeyValueHeads: 2, HeadDim: 10, MaxPositionEmbeddings: 100,
	RMSNormEps: 1e-6, RopeTheta: 1e4,
}

// adam has an epsilon far above the rounding of a gradient, which so does not become a
// step.
var adam = kernels.AdamW{LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-4, WeightDecay: 0.1, ClipNorm: 1}

// batch has sequences of these lengths with about half of their tokens trained.
func batch(r *rand.Rand, lengths ...int) []kernels.Sequence {
	var sequences []kernels.Sequence
	for _, n := range lengths {
		q := kernels.Sequence{ID: "random", Advantage: r.NormFloat64()}
		for i := range n {
			q.Tokens = append(q.Tokens, int32(r.IntN(model.VocabSize)))
			q.Mask = append(q.Mask, i == 1 || i > 1 && r.IntN(2) == 0)
			q.LogProbs = append(q.LogProbs, float32(-3.6+0.3*r.NormFloat64()))
			q.Reference = append(q.Reference, float32(-3.6+0.3*r.NormFloat64()))
		}
		sequences = append(sequences, q)
	}
	return sequences
}

func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func tensorsOf(t *testing.T, trainer kernels.Trainer) []kernels.Tensor {
	t.Helper()
	tensors, err := trainer.Weights().Tensors()
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}

func initial(t *testing.T, cfg kernels.Config) []kernels.Tensor {
	t.Helper()
	weights, err := cpu.InitWeights(cfg, 3)
	if err != nil {
		t.Fatal(err)
	}
	return weights
}

func step(t *testing.T, trainer kernels.Trainer, sequences []kernels.Sequence, loss kernels.Loss) (kernels.Statistics, kernels.StepResult) {
	t.Helper()
	stats, err := trainer.Accumulate(t.Context(), sequences, loss)
	if err != nil {
		t.Fatal(err)
	}
	result, err := trainer.Step(adam)
	if err != nil || result.Skipped {
		t.Fatalf("step gives %+v, %v", result, err)
	}
	return stats, result
}

// TestStepsAgainstCPU: ten AdamW steps, each on two micro-batches, end at the weights of
// package cpu. Both round to float32 in other orders. That the device's policy is
// published on the way, so that steps move between two buffers, does not show.
func TestStepsAgainstCPU(t *testing.T) {
	d := open(t)
	r := random(t)
	loss := kernels.Loss{ClipLow: 0.2, ClipHigh: 0.28, KLCoefficient: 0.1, EntropyCoefficient: 0.01, Temperature: 0.8, Divisor: 30}
	weights := initial(t, model)
	host, err := cpu.NewTrainer(model, weights)
	if err != nil {
		t.Fatal(err)
	}
	device := newTrainer(t, d, model, weights, Options{})
	for version := range int64(10) {
		if version%3 == 1 {
			if err := device.Publish(version); err != nil {
				t.Fatal(err)
			}
		}
		first, second := batch(r, 9, 1, 17), batch(r, 23)
		for _, trainer := range []kernels.Trainer{host, device} {
			if _, err := trainer.Accumulate(t.Context(), first, loss); err != nil {
				t.Fatal(err)
			}
		}
		want, wantStep := step(t, host, second, loss)
		got, gotStep := step(t, device, second, loss)
		for _, x := range []struct {
			name      string
			got, want float64
		}{
			{"tokens", float64(got.Tokens), float64(want.Tokens)},
			{"trained tokens", float64(got.TrainedTokens), float64(want.TrainedTokens)},
			{"loss", got.Loss, want.Loss}, {"entropy", got.Entropy, want.Entropy}, {"KL", got.KL, want.KL},
			{"clipped", got.Clipped, want.Clipped}, {"ratio", got.Ratio, want.Ratio},
			{"difference", got.AbsLogProbDiff, want.AbsLogProbDiff},
			{"largest difference", got.MaxAbsLogProbDiff, want.MaxAbsLogProbDiff},
			{"gradient norm", gotStep.GradNorm, wantStep.GradNorm},
		} {
			if math.Abs(x.got-x.want) > 1e-5*max(1, math.Abs(x.want)) {
				t.Errorf("%s is %v, want %v", x.name, x.got, x.want)
			}
		}
	}
	kernelstest.Near(t, tensorsOf(t, host), tensorsOf(t, device), 1e-5)
}

// TestEitherResumesTheOther: a checkpoint of one backend, through files, is where the
// other goes on: in float32 to the tolerance of a step, and weights and moments are
// the same bits before it, in bfloat16 too.
func TestEitherResumesTheOther(t *testing.T) {
	d := open(t)
	for _, precision := range []Precision{FP32, BF16} {
		t.Run(precision.String(), func(t *testing.T) {
			r := random(t)
			loss := kernels.Loss{ClipLow: 0.2, ClipHigh: 0.2, Divisor: 10}
			host, err := cpu.NewTrainer(model, initial(t, model))
			if err != nil {
				t.Fatal(err)
			}
			device := newTrainer(t, d, model, initial(t, model), Options{Precision: precision})
			for _, from := range []kernels.Trainer{host, device} {
				step(t, from, batch(r, 11), loss)
				var to kernels.Trainer = host
				if from == kernels.Trainer(host) {
					to = device
				}
				carry(t, from, to)
				kernelstest.EqualBits(t, tensorsOf(t, from), tensorsOf(t, to))
				next := batch(r, 13)
				step(t, from, next, loss)
				step(t, to, next, loss)
				if precision == FP32 {
					kernelstest.Near(t, tensorsOf(t, from), tensorsOf(t, to), 1e-5)
				}
			}
		})
	}
}

// carry restores a trainer from files that another's weights and state were written to.
func carry(t *testing.T, from, to kernels.Trainer) {
	t.Helper()
	state, taken, err := from.State()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	optimizer := filepath.Join(dir, "optimizer.safetensors")
	if _, err := checkpoint.Save(dir, model, tensorsOf(t, from), checkpoint.Options{DType: checkpoint.F32}); err != nil {
		t.Fatal(err)
	}
	if _, err := checkpoint.WriteTensors(optimizer, state, checkpoint.F32, nil); err != nil {
		t.Fatal(err)
	}
	_, weights, err := checkpoint.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	read, _, err := checkpoint.ReadTensors(optimizer)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Restore(weights, read, taken); err != nil {
		t.Fatal(err)
	}
	again, steps, err := to.State()
	if err != nil || steps != taken {
		t.Fatalf("restored at step %d, want %d: %v", steps, taken, err)
	}
	kernelstest.EqualBits(t, state, again)
}

// TestRecomputationDoesNotShow: gradients have the same bits whatever is computed again,
// and what is kept takes less memory from one choice to the next.
func TestRecomputationDoesNotShow(t *testing.T) {
	d := open(t)
	for _, precision := range []Precision{FP32, BF16} {
		t.Run(precision.String(), func(t *testing.T) {
			sequences := batch(random(t), 21, 8)
			weights := initial(t, model)
			var want []kernels.Tensor
			var bytes []uint64
			for _, recompute := range []Recompute{None, Cheap, Block, Automatic} {
				trainer := newTrainer(t, d, model, weights, Options{Precision: precision, Recompute: recompute})
				if _, err := trainer.Accumulate(t.Context(), sequences, kernels.Loss{Divisor: 7}); err != nil {
					t.Fatal(err)
				}
				got, err := trainer.Gradients()
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				kernelstest.EqualBits(t, want, got)
				bytes = append(bytes, trainer.Used().Bytes)
				if recompute == Automatic && trainer.Used().Recompute != None {
					t.Errorf("with memory for all, %v is computed again", trainer.Used().Recompute)
				}
			}
			if !(bytes[0] > bytes[1] && bytes[1] > bytes[2] && bytes[3] == bytes[0]) {
				t.Errorf("none, cheap, block and auto take %v bytes", bytes)
			}
		})
	}
}

// TestLogProbsAgainstCPU: every position, of sequences of one token too.
func TestLogProbsAgainstCPU(t *testing.T) {
	d := open(t)
	sequences := batch(random(t), 1, 40, 2)
	weights := initial(t, model)
	host, err := cpu.NewTrainer(model, weights)
	if err != nil {
		t.Fatal(err)
	}
	want, err := host.LogProbs(t.Context(), sequences, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	device := newTrainer(t, d, model, weights, Options{})
	got, err := device.LogProbs(t.Context(), sequences, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if !slices.EqualFunc(want[i], got[i], func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }) {
			t.Errorf("log-probabilities of sequence %d are %v, want %v", i, got[i], want[i])
		}
	}
	one, err := device.LogProbs(t.Context(), sequences[:1], 1)
	if err != nil || !slices.Equal(one[0], []float32{0}) {
		t.Errorf("a sequence of one token has log-probabilities %v, error %v", one, err)
	}
}
