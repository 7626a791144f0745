package cpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"millrace/kernels"
)

type trainer struct {
	cfg     kernels.Config
	model   *model
	head    *head
	grads   gradients
	m, v    *params
	step    int64
	targets []target
	// notFinite are the sequences since the last step that kernels.StepResult names.
	notFinite []string
}

// NewTrainer returns a trainer with a copy of weights, which must be exactly
// the tensors of the model, and a fresh optimizer. It computes on the
// threads of package workers.
func NewTrainer(cfg kernels.Config, weights []kernels.Tensor) (kernels.Trainer, error) {
	return newTrainer(cfg, weights)
}

func newTrainer(cfg kernels.Config, weights []kernels.Tensor) (*trainer, error) {
	if err := validate(cfg); err != nil {
		return nil, err
	}
	w := newParams(cfg)
	if err := w.load("", weights); err != nil {
		return nil, fmt.Errorf("loading weights: %w", err)
	}
	s := newShape(cfg)
	return &trainer{
		cfg:   cfg,
		model: newModel(s, w, newRope(cfg.HeadDim, cfg.RopeTheta)),
		head:  newHead(&s),
		grads: gradients{params: newParams(cfg)},
		m:     newParams(cfg),
		v:     newParams(cfg),
	}, nil
}

func (t *trainer) Config() kernels.Config { return t.cfg }

func (t *trainer) LogProbs(ctx context.Context, sequences []kernels.Sequence, temperature float64) ([][]float32, error) {
	if !(temperature > 0) {
		return nil, fmt.Errorf("temperature is %v, must be positive", temperature)
	}
	p, err := newPack(&t.model.shape, sequences)
	if err != nil {
		return nil, err
	}
	if err := t.model.forward(ctx, p); err != nil {
		return nil, err
	}
	t.targets = t.targets[:0]
	for i, q := range sequences {
		for j := 1; j < len(q.Tokens); j++ {
			t.targets = append(t.targets, target{row: p.start[i] + j - 1, token: q.Tokens[j]})
		}
	}
	t.head.logProbs(t.model, t.targets, temperature)
	result := make([][]float32, len(sequences))
	rest := t.targets
	for i, q := range sequences {
		result[i] = make([]float32, len(q.Tokens))
		for j := 1; j < len(q.Tokens); j++ {
			result[i][j] = float32(rest[0].prediction.logProb)
			rest = rest[1:]
		}
	}
	return result, nil
}

// Accumulate looks at ctx during the forward pass; once gradients are being
// added it runs to its end. So an error means that nothing was added.
func (t *trainer) Accumulate(ctx context.Context, sequences []kernels.Sequence, loss kernels.Loss) (kernels.Statistics, error) {
	var stats kernels.Statistics
	if err := loss.Validate(); err != nil {
		return stats, err
	}
	p, err := newPack(&t.model.shape, sequences)
	if err != nil {
		return stats, err
	}
	if t.targets, err = trainedTargets(t.targets[:0], p, &loss); err != nil {
		return stats, err
	}
	stats.Tokens = int64(len(p.tokens))
	if len(t.targets) == 0 {
		return stats, nil
	}
	if err := t.model.forward(ctx, p); err != nil {
		return stats, err
	}
	t.grads.reserve(&t.model.shape, len(p.tokens))
	clear(t.grads.stream)
	temperature := loss.Temperature
	if temperature == 0 {
		temperature = 1
	}
	if loss.SequenceRatio {
		// A token's gradient needs the log-probabilities of all its sequence.
		t.head.logProbs(t.model, t.targets, temperature)
		setSequenceRatios(t.targets)
	}
	t.head.train(t.model, &t.grads, t.targets, &loss, temperature)
	for i := range t.targets {
		addTarget(&stats, &t.targets[i])
	}
	t.notFinite = notFinite(t.notFinite, p, t.targets)
	t.model.backward(p, &t.grads)
	return stats, nil
}

// trainedTargets lists the tokens under the masks, with their denominators.
func trainedTargets(targets []target, p *pack, loss *kernels.Loss) ([]target, error) {
	for i := range p.sequences {
		q := &p.sequences[i]
		if err := q.ValidateTrained(loss); err != nil {
			return nil, fmt.Errorf("sequence %q: %w", q.ID, err)
		}
		trained := 0
		for _, m := range q.Mask {
			if m {
				trained++
			}
		}
		denominator := loss.Divisor
		if loss.PerSequenceMean {
			denominator *= float64(trained)
		}
		for j, m := range q.Mask {
			if !m {
				continue
			}
			t := target{row: p.start[i] + j - 1, token: q.Tokens[j], sequence: i, denominator: denominator}
			t.prediction = prediction{advantage: q.Advantage, behaviour: none, reference: none}
			if q.LogProbs != nil {
				t.prediction.behaviour = float64(q.LogProbs[j])
			}
			if q.Reference != nil {
				t.prediction.reference = float64(q.Reference[j])
			}
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// setSequenceRatios gives each target the ratio of its sequence, from the
// log-probabilities of all targets. Those of a sequence stand together.
func setSequenceRatios(targets []target) {
	for len(targets) > 0 {
		n, sum := 0, 0.0
		for n < len(targets) && targets[n].sequence == targets[0].sequence {
			sum += targets[n].prediction.difference()
			n++
		}
		ratio := math.Exp(sum / float64(n))
		for i := range n {
			targets[i].prediction.sequenceRatio = ratio
		}
		targets = targets[n:]
	}
}

func addTarget(s *kernels.Statistics, t *target) {
	r := &t.result
	s.TrainedTokens++
	s.Loss += r.loss / t.denominator
	s.Entropy += t.prediction.entropy
	s.KL += r.kl
	s.Ratio += r.ratio
	if r.clipped {
		s.Clipped++
	}
	difference := math.Abs(r.difference)
	s.AbsLogProbDiff += difference
	s.MaxAbsLogProbDiff = max(s.MaxAbsLogProbDiff, difference)
}

func (t *trainer) Step(o kernels.AdamW) (kernels.StepResult, error) {
	if err := o.Validate(); err != nil {
		return kernels.StepResult{}, err
	}
	result := kernels.StepResult{GradNorm: norm(t.grads.arena), NotFinite: t.notFinite}
	if math.IsNaN(result.GradNorm) || math.IsInf(result.GradNorm, 0) {
		result.Skipped = true
	} else {
		t.step++
		adamW(t.model.weights, t.grads.params, t.m, t.v, t.step, o, result.GradNorm)
	}
	t.dropGradients()
	return result, nil
}

// Weights are the live tensors.
func (t *trainer) Weights() kernels.Weights {
	return kernels.Tensors(slices.Clone(t.model.weights.tensors))
}

func (t *trainer) State() ([]kernels.Tensor, int64, error) {
	var state []kernels.Tensor
	for i, w := range t.model.weights.tensors {
		state = append(state,
			kernels.Tensor{Name: kernels.FirstMoment + w.Name, Shape: w.Shape, Data: t.m.tensors[i].Data},
			kernels.Tensor{Name: kernels.SecondMoment + w.Name, Shape: w.Shape, Data: t.v.tensors[i].Data})
	}
	return state, t.step, nil
}

func (t *trainer) Restore(weights, state []kernels.Tensor, step int64) error {
	first, second, err := kernels.SplitState(state, step)
	if err != nil {
		return err
	}
	w, m, v := newParams(t.cfg), newParams(t.cfg), newParams(t.cfg)
	if err := w.load("", weights); err != nil {
		return fmt.Errorf("restoring weights: %w", err)
	}
	if state != nil {
		if err := errors.Join(m.load(kernels.FirstMoment, first), v.load(kernels.SecondMoment, second)); err != nil {
			return fmt.Errorf("restoring optimizer: %w", err)
		}
	}
	copy(t.model.weights.arena, w.arena)
	t.m, t.v, t.step = m, v, step
	t.dropGradients()
	return nil
}

func (t *trainer) dropGradients() {
	clear(t.grads.arena)
	t.notFinite = nil
}

func (t *trainer) Close() error { return nil }
