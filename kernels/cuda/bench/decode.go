package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"millrace/kernels"
	"millrace/kernels/cuda"
)

type decode struct {
	source
	Sequences int    `help:"Sequences at a time." required:""`
	Context   int    `help:"Tokens of each prompt, all random." default:"2048"`
	Tokens    int    `help:"Tokens of each sequence that count." default:"128"`
	Warm      int    `help:"Tokens before, during which CUDA graphs are captured." default:"16"`
	Seed      uint64 `help:"Seed of prompts and samples; sequence i is the same whatever their number." default:"1"`
	Checked   int    `help:"Sequences whose log-probabilities are compared with the trainer's." default:"2"`
}

// Run reads the prompts and samples from all sequences at once. The engine's
// log-probabilities of what was sampled are then held against the trainer's, whose
// weights they share.
func (c decode) Run() error {
	return c.open(cuda.Options{Precision: cuda.BF16}, func(device *cuda.Device, _ settings, trainer *cuda.Trainer) (err error) {
		cfg := trainer.Config()
		generator, err := device.NewGenerator(cfg, trainer.Weights(), 1, cuda.GeneratorOptions{
			Precision: cuda.BF16, Sequences: c.Sequences, CacheBytes: c.cacheBytes(cfg),
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, generator.Close()) }()
		sessions := make([]kernels.Session, c.Sequences)
		prompts := make([][]int32, c.Sequences)
		for i := range sessions {
			if sessions[i], err = generator.Open(); err != nil {
				return err
			}
			defer sessions[i].Close()
			r := rand.New(rand.NewPCG(c.Seed, uint64(i)))
			for range c.Context {
				prompts[i] = append(prompts[i], int32(r.IntN(cfg.VocabSize)))
			}
		}
		none := make([][]int32, c.Sequences)
		first, reading, err := c.all(sessions, prompts, 1)
		if err != nil {
			return err
		}
		warm, _, err := c.all(sessions, none, c.Warm)
		if err != nil {
			return err
		}
		counted, sampling, err := c.all(sessions, none, c.Tokens)
		if err != nil {
			return err
		}
		line := map[string]any{
			"part": "decode", "name": fmt.Sprintf("B=%d", c.Sequences), "ms": milliseconds(sampling),
			"tokens": c.Sequences * c.Tokens, "sequences": c.Sequences, "context": c.Context + 1 + c.Warm + c.Tokens/2,
			"prefill_ms": milliseconds(reading), "prefill_tokens": c.Sequences * c.Context,
		}
		checked := min(c.Checked, c.Sequences)
		var sequences []kernels.Sequence
		var sampled [][]float32
		for i := range checked {
			tokens, logProbs := prompts[i], []float32(nil)
			for _, part := range []kernels.Completion{first[i], warm[i], counted[i]} {
				tokens, logProbs = append(tokens, part.Tokens...), append(logProbs, part.LogProbs...)
			}
			sequences = append(sequences, kernels.Sequence{ID: fmt.Sprintf("sequence %d", i), Tokens: tokens, Mask: make([]bool, len(tokens))})
			sampled = append(sampled, logProbs)
		}
		trained, err := trainer.LogProbs(context.Background(), sequences, 1)
		if err != nil {
			return err
		}
		var sum, most float64
		var n int
		for i, row := range trained {
			for t, p := range sampled[i] {
				gap := math.Abs(float64(row[c.Context+t]) - float64(p))
				sum, most, n = sum+gap, max(most, gap), n+1
			}
		}
		if n > 0 {
			line["gap_mean"], line["gap_most"] = sum/float64(n), most
			line["sampled"], line["log_probs"] = sequences[0].Tokens[c.Context:], sampled[0]
		}
		return report(line)
	})
}

// cacheBytes is room for the keys and values of all sequences, in whole pages and one more.
func (c decode) cacheBytes(cfg kernels.Config) uint64 {
	const page = 64 // tokens
	perToken := 2 * cfg.NumHiddenLayers * cfg.NumKeyValueHeads * cfg.HeadDim * 2
	pages := (c.Context+1+c.Warm+c.Tokens)/page + 2
	return uint64(c.Sequences) * uint64(pages) * page * uint64(perToken)
}

// all samples n tokens in each session, at the same time, and tells how long that took.
func (c decode) all(sessions []kernels.Session, prompts [][]int32, n int) ([]kernels.Completion, time.Duration, error) {
	completions, failures := make([]kernels.Completion, len(sessions)), make([]error, len(sessions))
	var wait sync.WaitGroup
	start := time.Now()
	for i := range sessions {
		wait.Go(func() {
			completions[i], failures[i] = sessions[i].Generate(context.Background(), prompts[i], kernels.Sampling{
				Temperature: 1, MaxTokens: n, Seed: c.Seed + uint64(i),
			})
		})
	}
	wait.Wait()
	return completions, time.Since(start), errors.Join(failures...)
}
