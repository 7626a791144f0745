package warmstart

import (
	"context"
	"fmt"
	"iter"
	"math"

	"millrace/kernels"
)

// Schedule are the settings of the supervised steps.
type Schedule struct {
	// Tokens is the number of tokens to learn from, prompts included.
	Tokens int64 `yaml:"tokens"`
	// BatchTokens is the number of tokens of one optimizer step, MicroTokens the
	// largest number in memory at once.
	BatchTokens int `yaml:"batch_tokens"`
	MicroTokens int `yaml:"micro_tokens"`
	// LearningRate is the peak, reached after Warmup of all steps and followed
	// by a cosine down to a tenth of it.
	LearningRate float64 `yaml:"learning_rate"`
	Warmup       float64 `yaml:"warmup"`
	// Optimizer holds everything but the rate.
	Optimizer kernels.AdamW `yaml:"-"`
}

// DefaultSchedule is what the shipped warm start was trained with.
var DefaultSchedule = Schedule{
	Tokens:       11_000_000,
	BatchTokens:  4_096,
	MicroTokens:  4_096,
	LearningRate: 2e-3,
	Warmup:       0.03,
	Optimizer:    kernels.AdamW{Beta1: 0.9, Beta2: 0.98, Epsilon: 1e-8, WeightDecay: 0.01, ClipNorm: 1},
}

// rate is the learning rate after a fraction of the tokens.
func (s Schedule) rate(done float64) float64 {
	if done < s.Warmup {
		return s.LearningRate * (done + 1e-3) / (s.Warmup + 1e-3)
	}
	cosine := 0.5 * (1 + math.Cos(math.Pi*(done-s.Warmup)/(1-s.Warmup)))
	return s.LearningRate * (0.1 + 0.9*cosine)
}

// Progress is what one supervised step saw.
type Progress struct {
	Step, Tokens int64
	// Loss is the mean cross-entropy of a trained token, in nats.
	Loss, GradNorm, LearningRate float64
}

// Supervise takes supervised steps on sequences until the schedule's tokens are
// used up: cross-entropy on the trained tokens, which is the policy loss with
// advantage 1. It stops early when sequences end; a batch that is not full by
// then is left out, and it is an error if there was none. The end of ctx and a
// gradient that is not finite are errors.
func Supervise(ctx context.Context, trainer kernels.Trainer, sequences iter.Seq[kernels.Sequence], s Schedule, report func(Progress)) error {
	var p Progress
	var batch []kernels.Sequence
	batchTokens := 0
	for sequence := range sequences {
		batch = append(batch, sequence)
		batchTokens += len(sequence.Tokens)
		if batchTokens < s.BatchTokens {
			continue
		}
		p.Step++
		p.Tokens += int64(batchTokens)
		p.LearningRate = s.rate(float64(p.Tokens) / float64(s.Tokens))
		if err := superviseBatch(ctx, trainer, batch, s, &p); err != nil {
			return fmt.Errorf("supervised step %d: %w", p.Step, err)
		}
		report(p)
		batch, batchTokens = batch[:0], 0
		if p.Tokens >= s.Tokens {
			return nil
		}
	}
	if p.Step == 0 {
		return fmt.Errorf("supervised steps: the sequences have %d tokens, less than one batch of %d", batchTokens, s.BatchTokens)
	}
	return nil
}

func superviseBatch(ctx context.Context, trainer kernels.Trainer, batch []kernels.Sequence, s Schedule, p *Progress) error {
	trained := 0
	for _, q := range batch {
		for _, m := range q.Mask {
			if m {
				trained++
			}
		}
	}
	loss := kernels.Loss{Supervised: true, Divisor: float64(trained)}
	var sum kernels.Statistics
	for len(batch) > 0 {
		n, tokens := 0, 0
		for n < len(batch) && (n == 0 || tokens+len(batch[n].Tokens) <= s.MicroTokens) {
			tokens += len(batch[n].Tokens)
			n++
		}
		stats, err := trainer.Accumulate(ctx, batch[:n], loss)
		if err != nil {
			return err
		}
		sum.Add(stats)
		batch = batch[n:]
	}
	optimizer := s.Optimizer
	optimizer.LearningRate = p.LearningRate
	result, err := trainer.Step(optimizer)
	if err != nil {
		return err
	}
	if result.Skipped {
		return fmt.Errorf("gradient norm is %v", result.GradNorm)
	}
	p.Loss, p.GradNorm = sum.Loss, result.GradNorm
	return nil
}
