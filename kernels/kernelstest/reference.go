package kernelstest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"millrace/kernels"
)

// Reference is what package cpu's testdata/reference.py writes: Qwen3 by Hugging Face
// transformers, derivatives by autograd, steps by torch's AdamW, in float32.
type Reference struct {
	Config kernels.Config
	// Kinds are the losses at the first weights; the steps are of the first kind.
	Kinds []struct {
		Name      string
		Settings  kernels.Loss // Temperature, Divisor and PerSequenceMean apart
		Loss      float64
		Gradients map[string]Values
	}
	Temperature, Divisor float64
	Weights, Stepped     map[string]Values
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

// Values are a tensor's.
type Values struct {
	Shape []int
	Data  []float32
}

// Load reads the reference of a name: tied or untied.
func Load(t *testing.T, dir, name string) *Reference {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "reference-"+name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	ref := &Reference{}
	if err := json.Unmarshal(data, ref); err != nil {
		t.Fatal(err)
	}
	return ref
}

// Tensors are the first weights.
func (r *Reference) Tensors() []kernels.Tensor {
	var weights []kernels.Tensor
	for name, w := range r.Weights {
		weights = append(weights, kernels.Tensor{Name: name, Shape: w.Shape, Data: append([]float32(nil), w.Data...)})
	}
	return weights
}

// Batch are the sequences, "s0" and so on.
func (r *Reference) Batch() []kernels.Sequence {
	var sequences []kernels.Sequence
	for i, s := range r.Sequences {
		sequences = append(sequences, kernels.Sequence{
			ID: fmt.Sprintf("s%d", i), Tokens: s.Tokens, Mask: s.Mask, Advantage: s.Advantage,
			LogProbs: s.Behaviour, Reference: s.Reference,
		})
	}
	return sequences
}

// Loss is the loss of a kind.
func (r *Reference) Loss(kind int) kernels.Loss {
	l := r.Kinds[kind].Settings
	l.Temperature, l.Divisor, l.PerSequenceMean = r.Temperature, r.Divisor, true
	return l
}

// Optimizer is the optimizer of the steps.
func (r *Reference) Optimizer() kernels.AdamW {
	return kernels.AdamW{
		LearningRate: r.AdamW.LR, Beta1: r.AdamW.Betas[0], Beta2: r.AdamW.Betas[1],
		Epsilon: r.AdamW.Eps, WeightDecay: r.WeightDecay, ClipNorm: r.ClipNorm,
	}
}

// agrees holds log-probabilities, the loss and every gradient of each kind, and three
// optimizer steps to an independent implementation.
func agrees(t *testing.T, b Backend) {
	for _, name := range []string{"tied", "untied"} {
		t.Run(name, func(t *testing.T) { Load(t, b.Reference, name).compare(t, b) })
	}
}

func (r *Reference) compare(t *testing.T, b Backend) {
	trainer := b.New(t, r.Config, r.Tensors())
	batch := r.Batch()
	logProbs, err := trainer.LogProbs(t.Context(), batch, r.Temperature)
	if err != nil {
		t.Fatal(err)
	}
	for i := range batch {
		NearValues(t, "log-probabilities", logProbs[i], r.LogProbs[i], b.Tolerance)
	}
	for i, kind := range r.Kinds {
		if err := trainer.Restore(r.Tensors(), nil, 0); err != nil {
			t.Fatal(err)
		}
		stats := accumulate(t, trainer, batch, r.Loss(i))
		if math.Abs(stats.Loss-kind.Loss) > b.Tolerance*math.Abs(kind.Loss) {
			t.Errorf("loss %s is %v, want %v", kind.Name, stats.Loss, kind.Loss)
		}
		if stats.Clipped == 0 || stats.Clipped == float64(stats.TrainedTokens) {
			t.Errorf("loss %s clips %v of %d tokens: one side of the clip is not shown", kind.Name, stats.Clipped, stats.TrainedTokens)
		}
		for _, g := range gradients(t, trainer) {
			NearValues(t, kind.Name+"'s gradient of "+g.Name, g.Data, kind.Gradients[g.Name].Data, b.Tolerance)
		}
	}
	if err := trainer.Restore(r.Tensors(), nil, 0); err != nil {
		t.Fatal(err)
	}
	for step, want := range r.Losses {
		stats := accumulate(t, trainer, batch, r.Loss(0))
		// Later the parts of the loss nearly cancel; they have the size of the first.
		if math.Abs(stats.Loss-want) > b.Tolerance*math.Abs(r.Losses[0]) {
			t.Errorf("loss of step %d is %v, want %v", step, stats.Loss, want)
		}
		result := stepped(t, trainer, r.Optimizer())
		if math.Abs(result.GradNorm-r.GradNorms[step]) > b.Tolerance*r.GradNorms[step] {
			t.Errorf("gradient norm of step %d is %v, want %v", step, result.GradNorm, r.GradNorms[step])
		}
	}
	for _, w := range weights(t, trainer) {
		NearValues(t, "stepped "+w.Name, w.Data, r.Stepped[w.Name].Data, b.Stepped)
	}
}
