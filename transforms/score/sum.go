package score

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"millrace/schemas"
)

// Rewarder gives a trajectory its reward. Its error is the end of ctx; whatever else
// goes wrong is Reward.Failure.
type Rewarder interface {
	Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error)
}

// Part is one of several rewards and its weight.
type Part struct {
	Name   string
	Weight float64
	Of     Rewarder
}

// Sum rewards a trajectory by the weighted sum of parts, each of which is kept in
// the record. Tests and their output are those of the first part that has any.
//
// A part that fails makes the sum fail (invariant 1): a sum without it would be
// another reward.
type Sum []Part

// NewSum checks the parts: at least one, names that differ, weights that are finite
// and not 0.
func NewSum(parts ...Part) (Sum, error) {
	var errs []error
	seen := map[string]bool{}
	for i, p := range parts {
		switch {
		case p.Name == "":
			errs = append(errs, fmt.Errorf("part %d has no name", i+1))
		case seen[p.Name]:
			errs = append(errs, fmt.Errorf("part %d is named %q, as an earlier one is", i+1, p.Name))
		}
		seen[p.Name] = true
		if p.Weight == 0 || math.IsNaN(p.Weight) || math.IsInf(p.Weight, 0) {
			errs = append(errs, fmt.Errorf("part %q has weight %v: want a finite one that is not 0", p.Name, p.Weight))
		}
	}
	if len(parts) == 0 {
		errs = append(errs, errors.New("there is no part"))
	}
	return parts, errors.Join(errs...)
}

// Score returns the sum, in the order of the parts.
func (s Sum) Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	started := time.Now()
	sum := schemas.Reward{Trajectory: t}
	cached := true
	for _, p := range s {
		r, err := p.Of.Score(ctx, t)
		if err != nil {
			return schemas.Reward{}, err
		}
		if r.Failure != "" {
			failed := schemas.Reward{Trajectory: t, Failure: p.Name + ": " + r.Failure}
			failed.Duration = time.Since(started).Microseconds()
			return failed, nil
		}
		sum.Value += p.Weight * r.Value
		sum.Parts = append(sum.Parts, schemas.RewardPart{Name: p.Name, Value: r.Value, Weight: p.Weight})
		if len(sum.Passed)+len(sum.FailedTests) == 0 && sum.Output == "" {
			sum.Passed, sum.FailedTests, sum.Output = r.Passed, r.FailedTests, r.Output
		}
		cached = cached && r.Cached
	}
	sum.Cached = cached
	sum.Duration = time.Since(started).Microseconds()
	return sum, nil
}

// ByCommand is a Command as a part: the trajectory had no reward before.
type ByCommand struct{ Command }

// Score returns the reward that the command prints.
func (c ByCommand) Score(ctx context.Context, t schemas.Trajectory) (schemas.Reward, error) {
	return c.Command.Score(ctx, schemas.Reward{Trajectory: t, Failure: "not scored before"})
}
