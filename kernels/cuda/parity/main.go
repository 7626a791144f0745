// Command parity computes on a GPU what parity.py computes with Hugging Face
// transformers: log-probabilities, losses, gradients and AdamW steps of a model that
// both read from one directory. What it writes is complete or not there.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/cuda"
)

// job is what to compute; parity.py writes it.
type job struct {
	Sequences []struct {
		Tokens               []int32
		Mask                 []bool
		Advantage            float64
		Behaviour, Reference []float32
	}
	// Prefix is what each token of the vocabulary is tried behind.
	Prefix []int32
	Loss   kernels.Loss
	AdamW  kernels.AdamW
	Steps  int
}

type command struct {
	Model     string `help:"Hugging Face directory." required:"" type:"existingdir"`
	Job       string `help:"File with sequences and settings." required:"" type:"existingfile"`
	Out       string `help:"safetensors file to write." required:"" type:"path"`
	Precision string `help:"fp32 or bf16." default:"fp32"`
	Recompute string `help:"auto, none, cheap or block." default:"auto"`
}

func (c command) Run() (err error) {
	var options cuda.Options
	if options.Precision, err = cuda.ParsePrecision(c.Precision); err != nil {
		return err
	}
	if options.Recompute, err = cuda.ParseRecompute(c.Recompute); err != nil {
		return err
	}
	data, err := os.ReadFile(c.Job)
	if err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("%s: %w", c.Job, err)
	}
	cfg, weights, err := checkpoint.Load(c.Model)
	if err != nil {
		return err
	}
	device, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	trainer, err := device.NewTrainer(cfg, weights, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trainer.Close()) }()
	fmt.Printf("attention in %s: %s\n", options.Precision, trainer.Attention())
	tensors, err := j.run(context.Background(), trainer)
	if err != nil {
		return err
	}
	_, err = checkpoint.WriteTensors(c.Out, tensors, checkpoint.F32, nil)
	return err
}

// run returns log_probs.<sequence>, distribution, gradient.<weight>, stepped.<weight>,
// and the losses and gradient norms of the steps.
func (j job) run(ctx context.Context, trainer *cuda.Trainer) ([]kernels.Tensor, error) {
	batch := j.batch()
	logProbs, err := trainer.LogProbs(ctx, batch, j.Loss.Temperature)
	if err != nil {
		return nil, err
	}
	var out []kernels.Tensor
	for i, row := range logProbs {
		out = append(out, vector(fmt.Sprintf("log_probs.%d", i), row))
	}
	every, err := trainer.LogProbs(ctx, j.continuations(trainer.Config().VocabSize), j.Loss.Temperature)
	if err != nil {
		return nil, err
	}
	distribution := make([]float32, len(every))
	for i, row := range every {
		distribution[i] = row[len(row)-1]
	}
	out = append(out, vector("distribution", distribution))

	losses, norms := make([]float32, j.Steps), make([]float32, j.Steps)
	for step := range j.Steps {
		statistics, err := trainer.Accumulate(ctx, batch, j.Loss)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		if step == 0 {
			gradients, err := trainer.Gradients()
			if err != nil {
				return nil, err
			}
			out = append(out, named("gradient.", gradients)...)
		}
		result, err := trainer.Step(j.AdamW)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		if result.Skipped {
			return nil, fmt.Errorf("step %d was skipped: gradient norm %v", step, result.GradNorm)
		}
		losses[step], norms[step] = float32(statistics.Loss), float32(result.GradNorm)
	}
	weights, err := trainer.Weights().Tensors()
	if err != nil {
		return nil, err
	}
	out = append(out, named("stepped.", weights)...)
	return append(out, vector("losses", losses), vector("norms", norms)), nil
}

func (j job) batch() []kernels.Sequence {
	var batch []kernels.Sequence
	for i, s := range j.Sequences {
		batch = append(batch, kernels.Sequence{
			ID: fmt.Sprintf("sequence %d", i), Tokens: s.Tokens, Mask: s.Mask, Advantage: s.Advantage,
			LogProbs: s.Behaviour, Reference: s.Reference,
		})
	}
	return batch
}

// continuations are the prefix with each token of the vocabulary behind it: together
// their last log-probabilities are all logits of one position, but for a constant.
func (j job) continuations(vocabulary int) []kernels.Sequence {
	all := make([]kernels.Sequence, vocabulary)
	for v := range all {
		tokens := append(append([]int32(nil), j.Prefix...), int32(v))
		all[v] = kernels.Sequence{ID: fmt.Sprintf("continuation %d", v), Tokens: tokens, Mask: make([]bool, len(tokens))}
	}
	return all
}

func vector(name string, data []float32) kernels.Tensor {
	return kernels.Tensor{Name: name, Shape: []int{len(data)}, Data: data}
}

func named(prefix string, tensors []kernels.Tensor) []kernels.Tensor {
	var out []kernels.Tensor
	for _, t := range tensors {
		out = append(out, kernels.Tensor{Name: prefix + t.Name, Shape: t.Shape, Data: t.Data})
	}
	return out
}

func main() {
	var c command
	k := kong.Parse(&c, kong.Description("Log-probabilities, gradients and AdamW steps on a GPU, for parity.py to compare."))
	k.FatalIfErrorf(k.Run())
}
