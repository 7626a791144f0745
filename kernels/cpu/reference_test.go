package cpu

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"millrace/kernels"
)

// reference is what testdata/reference.py writes: Qwen3 by Hugging Face
// transformers, derivatives by autograd, steps by torch's AdamW, in float32.
type reference struct {
	Config kernels.Config
	// Kinds are the losses at the first weights; the steps are of the first kind.
	Kinds []struct {
		Name      string
		Settings  kernels.Loss // Temperature, Divisor and PerSequenceMean apart
		Loss      float64
		Gradients map[string]values
	}
	Temperature, Divisor float64
	Weights, Stepped     map[string]values
	Sequences            []struct {
		Tokens               []int32
		Mask                 []bool
		Advantage            float64
		Behaviour, Reference []float32
	}
	Logits      [][]float32
	LogProbs    [][]float32 `json:"log_probs"`
	Losses      []float64
	GradNorms   []float64 `json:"grad_norms"`
	WeightDecay float64   `json:"weight_decay"`
	ClipNorm    float64   `json:"clip_norm"`
	AdamW       struct {
		LR    float64
		Betas [2]float64
		Eps   float64
	}
}

type values struct {
	Shape []int
	Data  []float32
}

// TestAgainstTransformers holds logits, log-probabilities, loss, every gradient
// and three optimizer steps to an independent implementation.
//
// Tolerances are relative to the largest element of a tensor. Both sides round
// to float32, 6e-8 a step; the longest chains here, a gradient through two
// layers and a sum over 70 tokens, have some hundred roundings, hence 1e-5. Adam
// divides a gradient by its own size, so an element much smaller than its
// tensor's largest hands its relative error on, times the learning rate of 0.01:
// hence 1e-4 after the steps.
func TestAgainstTransformers(t *testing.T) {
	for _, name := range []string{"tied", "untied"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/reference-" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var ref reference
			if err := json.Unmarshal(data, &ref); err != nil {
				t.Fatal(err)
			}
			ref.compare(t)
		})
	}
}

func (ref *reference) compare(t *testing.T) {
	const tolerance = 1e-5
	var weights []kernels.Tensor
	for name, w := range ref.Weights {
		weights = append(weights, kernels.Tensor{Name: name, Shape: w.Shape, Data: w.Data})
	}
	trainer, err := newTrainer(ref.Config, weights)
	if err != nil {
		t.Fatal(err)
	}
	var sequences []kernels.Sequence
	for _, s := range ref.Sequences {
		sequences = append(sequences, kernels.Sequence{
			Tokens: s.Tokens, Mask: s.Mask, Advantage: s.Advantage,
			LogProbs: s.Behaviour, Reference: s.Reference,
		})
	}

	p, err := newPack(&trainer.model.shape, sequences)
	if err != nil {
		t.Fatal(err)
	}
	if err := trainer.model.forward(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	for i := range sequences {
		var rows []target
		for row := p.start[i]; row < p.start[i+1]; row++ {
			rows = append(rows, target{row: row})
		}
		trainer.head.project(trainer.model, rows, 1)
		near(t, "logits", trainer.head.logits, ref.Logits[i], tolerance)
	}

	logProbs, err := trainer.LogProbs(t.Context(), sequences, ref.Temperature)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sequences {
		near(t, "log-probabilities", logProbs[i], ref.LogProbs[i], tolerance)
	}

	lossOfKind := func(kind int) kernels.Loss {
		l := ref.Kinds[kind].Settings
		l.Temperature, l.Divisor, l.PerSequenceMean = ref.Temperature, ref.Divisor, true
		return l
	}
	for i, kind := range ref.Kinds {
		clear(trainer.grads.arena)
		stats := mustAccumulate(t, trainer, sequences, lossOfKind(i))
		if math.Abs(stats.Loss-kind.Loss) > tolerance*math.Abs(kind.Loss) {
			t.Errorf("loss %s is %v, want %v", kind.Name, stats.Loss, kind.Loss)
		}
		if stats.Clipped == 0 || stats.Clipped == float64(stats.TrainedTokens) {
			t.Errorf("loss %s clips %v of %d tokens: one side of the clip is not shown", kind.Name, stats.Clipped, stats.TrainedTokens)
		}
		for _, g := range trainer.grads.tensors {
			near(t, kind.Name+"'s gradient of "+g.Name, g.Data, kind.Gradients[g.Name].Data, tolerance)
		}
	}
	clear(trainer.grads.arena)
	for step, want := range ref.Losses {
		stats := mustAccumulate(t, trainer, sequences, lossOfKind(0))
		// Later the parts of the loss nearly cancel; they have the size of the first.
		if math.Abs(stats.Loss-want) > tolerance*math.Abs(ref.Losses[0]) {
			t.Errorf("loss of step %d is %v, want %v", step, stats.Loss, want)
		}
		result, err := trainer.Step(kernels.AdamW{
			LearningRate: ref.AdamW.LR, Beta1: ref.AdamW.Betas[0], Beta2: ref.AdamW.Betas[1],
			Epsilon: ref.AdamW.Eps, WeightDecay: ref.WeightDecay, ClipNorm: ref.ClipNorm,
		})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(result.GradNorm-ref.GradNorms[step]) > tolerance*ref.GradNorms[step] {
			t.Errorf("gradient norm of step %d is %v, want %v", step, result.GradNorm, ref.GradNorms[step])
		}
	}
	for _, w := range tensorsOf(t, trainer) {
		near(t, "stepped "+w.Name, w.Data, ref.Stepped[w.Name].Data, 1e-4)
	}
}

// near fails when an element of got is further from want than tolerance times
// want's largest.
func near(t *testing.T, name string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d elements, want %d", name, len(got), len(want))
		return
	}
	var largest, worst float64
	for i, w := range want {
		largest = max(largest, math.Abs(float64(w)))
		difference := math.Abs(float64(got[i]) - float64(w))
		if math.IsNaN(difference) {
			difference = math.Inf(1)
		}
		worst = max(worst, difference)
	}
	if worst > tolerance*largest {
		t.Errorf("%s: off by %.3g, the largest element is %.3g", name, worst, largest)
	}
}
