package recipe

import (
	"fmt"

	"millrace/transforms/learn"
)

// Overrides take the place of single values of a recipe. What is not set is the
// recipe's, so 0 and false can be set.
type Overrides struct {
	// Filter is compact, compact-published or none.
	Filter *string `yaml:"filter,omitempty"`
	// Estimator is a name of the table in transforms/advantage.
	Estimator *string `yaml:"estimator,omitempty"`
	// OverlongBuffer, OverlongMax and MaxDraws are as in [Recipe].
	OverlongBuffer *float64 `yaml:"overlong_buffer,omitempty"`
	OverlongMax    *int     `yaml:"overlong_max,omitempty"`
	MaxDraws       *int     `yaml:"max_draws,omitempty"`
	// Ratio is token or sequence; Surrogate clipped-objective (PPO) or
	// clipped-weight (CISPO).
	Ratio     *string `yaml:"ratio,omitempty"`
	Surrogate *string `yaml:"surrogate,omitempty"`
	// What follows is as in kernels.Loss.
	ClipLow            *float64 `yaml:"clip_low,omitempty"`
	ClipHigh           *float64 `yaml:"clip_high,omitempty"`
	DualClip           *float64 `yaml:"dual_clip,omitempty"`
	TruncatedIS        *float64 `yaml:"truncated_is,omitempty"`
	KLCoefficient      *float64 `yaml:"kl_coefficient,omitempty"`
	EntropyCoefficient *float64 `yaml:"entropy_coefficient,omitempty"`
	// Aggregation is one of learn's.
	Aggregation *string `yaml:"aggregation,omitempty"`
}

// The values of Ratio and Surrogate.
const (
	TokenRatio       = "token"
	SequenceRatio    = "sequence"
	ClippedObjective = "clipped-objective"
	ClippedWeight    = "clipped-weight"
)

// Over returns the recipe with the values that are set. An error is a word that is no
// value of Ratio or Surrogate; what the values come to is for [Recipe.Validate].
func (o Overrides) Over(r Recipe) (Recipe, error) {
	loss := &r.Objective.Loss
	set(&r.Filter, o.Filter)
	set(&r.Estimator, o.Estimator)
	set(&r.OverlongBuffer, o.OverlongBuffer)
	set(&r.OverlongMax, o.OverlongMax)
	set(&r.MaxDraws, o.MaxDraws)
	set(&loss.ClipLow, o.ClipLow)
	set(&loss.ClipHigh, o.ClipHigh)
	set(&loss.DualClip, o.DualClip)
	set(&loss.TruncatedIS, o.TruncatedIS)
	set(&loss.KLCoefficient, o.KLCoefficient)
	set(&loss.EntropyCoefficient, o.EntropyCoefficient)
	if o.Aggregation != nil {
		r.Objective.Aggregation = learn.Aggregation(*o.Aggregation)
	}
	if err := choose("ratio", &loss.SequenceRatio, o.Ratio, TokenRatio, SequenceRatio); err != nil {
		return r, err
	}
	return r, choose("surrogate", &loss.ClippedWeight, o.Surrogate, ClippedObjective, ClippedWeight)
}

// Whole are the overrides that make any recipe this one, all values set.
func (r Recipe) Whole() Overrides {
	loss := r.Objective.Loss
	return Overrides{
		Filter: &r.Filter, Estimator: &r.Estimator,
		OverlongBuffer: &r.OverlongBuffer, OverlongMax: &r.OverlongMax, MaxDraws: &r.MaxDraws,
		Ratio: named(loss.SequenceRatio, TokenRatio, SequenceRatio), Surrogate: named(loss.ClippedWeight, ClippedObjective, ClippedWeight),
		ClipLow: &loss.ClipLow, ClipHigh: &loss.ClipHigh, DualClip: &loss.DualClip, TruncatedIS: &loss.TruncatedIS,
		KLCoefficient: &loss.KLCoefficient, EntropyCoefficient: &loss.EntropyCoefficient,
		Aggregation: new(string(r.Objective.Aggregation)),
	}
}

func set[T any](value, by *T) {
	if by != nil {
		*value = *by
	}
}

// choose sets value to whether the second of two words is named.
func choose(key string, value *bool, by *string, no, yes string) error {
	switch {
	case by == nil:
	case *by == no || *by == yes:
		*value = *by == yes
	default:
		return fmt.Errorf("%s is %q: want %s or %s", key, *by, no, yes)
	}
	return nil
}

func named(value bool, no, yes string) *string {
	if value {
		return &yes
	}
	return &no
}
