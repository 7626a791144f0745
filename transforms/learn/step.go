package learn

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"millrace/kernels"
	"millrace/schemas"
)

// update runs one step: train, commit, publish. l.mu is held.
func (l *Learner) update(ctx context.Context, batch Batch) (schemas.Update, error) {
	started := l.parts.Now()
	step := batch.Version + 1
	trained, err := l.train(ctx, batch.Samples, step)
	if err != nil {
		return schemas.Update{}, err
	}
	trainedAt := l.parts.Now()
	u := schemas.Update{
		Run: l.config.Run, Step: step, GroupIDs: batch.GroupIDs, Positions: l.offsets.positions(),
		ConfigHash: l.config.ConfigHash, CodeVersion: l.config.CodeVersion, Started: started.UnixMicro(),
	}
	for i := range batch.Samples {
		u.SampleIDs = append(u.SampleIDs, batch.Samples[i].ID)
	}
	for i := range batch.Dropped {
		u.DroppedIDs = append(u.DroppedIDs, batch.Dropped[i].Sample.ID)
	}
	weights, err := l.parts.Trainer.Weights().Tensors()
	if err != nil {
		return schemas.Update{}, fmt.Errorf("reading the weights of step %d: %w", step, err)
	}
	optimizer, optimizerStep, err := l.parts.Trainer.State()
	if err != nil {
		return schemas.Update{}, fmt.Errorf("reading the optimizer of step %d: %w", step, err)
	}
	dir, err := l.store.Commit(snapshot{
		config: l.parts.Trainer.Config(), weights: weights,
		optimizer: optimizer, optimizerStep: optimizerStep,
		positions: u.Positions, configHash: l.config.ConfigHash, update: &u, deadLetters: l.dead.letters,
		open: l.batcher.places.save(),
		finish: func(u *schemas.Update) {
			now := l.parts.Now()
			u.Finished = now.UnixMicro()
			u.Metrics = metricsOf(&batch, trained, timing{update: trainedAt.Sub(started), save: now.Sub(trainedAt)})
		},
	})
	if err != nil {
		return schemas.Update{}, err
	}
	if err := l.ledger.add(u); err != nil {
		return schemas.Update{}, err
	}
	l.dir = dir
	l.dead.advance(step)
	return u, l.publish(ctx)
}

// trained is what the optimizer steps of one batch saw.
type trained struct {
	stats        kernels.Statistics
	sequences    int // that weigh
	minibatches  int // that had something to train on
	microbatches int
	skipped      int // optimizer steps whose gradient was not finite
	gradNorm     float64
	rate         float64
}

type timing struct{ update, save time.Duration }

// train runs the optimizer steps of a batch, whose samples are sorted by id.
func (l *Learner) train(ctx context.Context, samples []schemas.Sample, step int64) (trained, error) {
	t := trained{rate: l.config.Schedule.Rate(l.config.Optimizer.LearningRate, step)}
	optimizer := l.config.Optimizer
	optimizer.LearningRate = t.rate
	for _, minibatch := range minibatches(samples, l.config.Minibatches) {
		loss, ok := l.config.Objective.Of(minibatch, l.config.Context, l.config.Temperature)
		if !ok {
			continue
		}
		sequences := l.sequences(minibatch)
		t.sequences += weighing(minibatch)
		t.minibatches++
		for _, bin := range packed(sequences, l.config.MicroBatchTokens) {
			if err := l.refer(ctx, bin); err != nil {
				return t, err
			}
			stats, err := l.parts.Trainer.Accumulate(ctx, bin, loss)
			if err != nil {
				return t, fmt.Errorf("training on %d sequences from %q on: %w", len(bin), bin[0].ID, err)
			}
			t.stats.Add(stats)
			t.microbatches++
		}
		result, err := l.parts.Trainer.Step(optimizer)
		if err != nil {
			return t, fmt.Errorf("stepping the optimizer: %w", err)
		}
		if result.Skipped {
			t.skipped++
			slog.Warn(fmt.Sprintf("step %d: an optimizer step is skipped, gradient norm %v; samples whose loss is not finite: %s",
				step, result.GradNorm, orNone(result.NotFinite)))
		} else {
			t.gradNorm = max(t.gradNorm, result.GradNorm)
		}
	}
	return t, nil
}

// sequences are the weighing samples as the trainer takes them. They share the
// samples' memory.
//
// A sample whose advantage is 0, of a group that all solved or nobody did, has
// a gradient of exactly 0: it is in the divisor and not worth a pass.
func (l *Learner) sequences(samples []schemas.Sample) []kernels.Sequence {
	var out []kernels.Sequence
	for i := range samples {
		s := &samples[i]
		if s.Weight != 1 || s.Advantage == 0 && l.config.Objective.gradientIsAdvantages() {
			continue
		}
		out = append(out, kernels.Sequence{ID: s.ID, Tokens: s.Tokens, Mask: s.LossMask, LogProbs: s.LogProbs, Advantage: s.Advantage})
	}
	return out
}

func orNone(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

func weighing(samples []schemas.Sample) int {
	n := 0
	for i := range samples {
		if samples[i].Weight == 1 {
			n++
		}
	}
	return n
}

// packed cuts sequences into micro-batches.
func packed(sequences []kernels.Sequence, budget int) [][]kernels.Sequence {
	lengths := make([]int, len(sequences))
	for i := range sequences {
		lengths[i] = len(sequences[i].Tokens)
	}
	var out [][]kernels.Sequence
	for _, bin := range pack(lengths, budget) {
		var batch []kernels.Sequence
		for _, i := range bin {
			batch = append(batch, sequences[i])
		}
		out = append(out, batch)
	}
	return out
}

// refer sets the reference log-probabilities that a KL term needs.
func (l *Learner) refer(ctx context.Context, sequences []kernels.Sequence) error {
	if l.config.Objective.Loss.KLCoefficient == 0 {
		return nil
	}
	logProbs, err := l.parts.Reference.LogProbs(ctx, sequences, l.config.Temperature)
	if err != nil {
		return fmt.Errorf("asking the reference policy about %q: %w", sequences[0].ID, err)
	}
	for i := range sequences {
		sequences[i].Reference = logProbs[i]
	}
	return nil
}
