package kernels

import (
	"errors"
	"fmt"
	"math"
)

// Validate reports what no pass over the sequence can take: no tokens, more than the
// model reaches, or an id outside of the vocabulary.
func (q *Sequence) Validate(vocabulary, positions int) error {
	n := len(q.Tokens)
	switch {
	case n == 0:
		return errors.New("has no tokens")
	case n > positions:
		return fmt.Errorf("has %d tokens, the model reaches %d", n, positions)
	}
	for t, id := range q.Tokens {
		if id < 0 || int(id) >= vocabulary {
			return fmt.Errorf("token %d is %d, the vocabulary has %d", t, id, vocabulary)
		}
	}
	return nil
}

// ValidateTrained reports what training cannot take of a sequence that has tokens.
func (q *Sequence) ValidateTrained(loss *Loss) error {
	n := len(q.Tokens)
	if len(q.Mask) != n {
		return fmt.Errorf("has %d tokens and a mask of %d", n, len(q.Mask))
	}
	if q.Mask[0] {
		return errors.New("trains its first token, which has no prediction")
	}
	if math.IsNaN(q.Advantage) || math.IsInf(q.Advantage, 0) {
		return fmt.Errorf("has advantage %v", q.Advantage)
	}
	for _, given := range []struct {
		name   string
		values []float32
	}{{"behaviour", q.LogProbs}, {"reference", q.Reference}} {
		if given.values == nil {
			continue
		}
		if len(given.values) != n {
			return fmt.Errorf("has %d tokens and %d %s log-probabilities", n, len(given.values), given.name)
		}
		for t, v := range given.values {
			if q.Mask[t] && (math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)) {
				return fmt.Errorf("has %s log-probability %v at trained token %d", given.name, v, t)
			}
		}
	}
	if loss.KLCoefficient != 0 && q.Reference == nil {
		return errors.New("has no reference log-probabilities for the KL term")
	}
	return nil
}

// Validate reports settings that have no meaning.
func (o AdamW) Validate() error {
	finite := func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
	switch {
	case !finite(o.LearningRate) || !finite(o.WeightDecay) || !finite(o.ClipNorm):
		return fmt.Errorf("optimizer has learning rate %v, weight decay %v, clip norm %v; none may be negative", o.LearningRate, o.WeightDecay, o.ClipNorm)
	case !(o.Beta1 >= 0 && o.Beta1 < 1) || !(o.Beta2 >= 0 && o.Beta2 < 1):
		return fmt.Errorf("optimizer has betas %v and %v, must be in [0,1)", o.Beta1, o.Beta2)
	case !(o.Epsilon > 0):
		return fmt.Errorf("optimizer has epsilon %v, must be positive", o.Epsilon)
	}
	return nil
}

// ValidatePrompt reports what no call of a session of that length can begin with.
func (c *Config) ValidatePrompt(length int, prompt []int32, sampling *Sampling) error {
	switch {
	case length+len(prompt) == 0:
		return errors.New("sequence is empty, there is nothing to predict from")
	case length+len(prompt) >= c.MaxPositionEmbeddings:
		return fmt.Errorf("sequence of %d and prompt of %d tokens in a context of %d: %w",
			length, len(prompt), c.MaxPositionEmbeddings, ErrContextFull)
	}
	for i, id := range prompt {
		if id < 0 || int(id) >= c.VocabSize {
			return fmt.Errorf("prompt token %d is %d, the vocabulary has %d", i, id, c.VocabSize)
		}
	}
	return sampling.Validate()
}

// Validate reports settings that have no meaning.
func (p *Sampling) Validate() error {
	switch {
	case !(p.Temperature >= 0) || math.IsInf(p.Temperature, 0):
		return fmt.Errorf("sampling temperature is %v, must not be negative", p.Temperature)
	case p.TopK < 0:
		return fmt.Errorf("sampling keeps the %d most probable tokens, must not be negative", p.TopK)
	case !(p.MinP >= 0 && p.MinP <= 1):
		return fmt.Errorf("sampling keeps tokens %v times as probable as the best, must be in [0,1]", p.MinP)
	case !(p.TopP >= 0 && p.TopP <= 1):
		return fmt.Errorf("sampling keeps probability %v, must be in [0,1]", p.TopP)
	case p.MaxTokens <= 0:
		return fmt.Errorf("sampling is bounded by %d tokens, must be positive", p.MaxTokens)
	}
	return nil
}
