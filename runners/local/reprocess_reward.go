package local

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/pipelines/reprocess"
	"millrace/pipelines/train"
	"millrace/schemas"
	"millrace/transforms/score"
)

// RewardOptions say where rewards come from.
type RewardOptions struct {
	// Kind is one of those below; empty keeps the recorded values as they are.
	Kind string
	// Command is the command line of the kind "command", Timeout its deadline.
	Command string
	Timeout time.Duration
	// InFlight bounds the trajectories that are graded at once in each lane.
	InFlight int
}

// The kinds of rewards.
const (
	recordedReward   = "recorded"
	testsReward      = "tests"
	similarityReward = "similarity"
	commandReward    = "command"
)

// String tells the reward in a report.
func (o RewardOptions) String() string {
	switch o.Kind {
	case "":
		return "as it was"
	case commandReward:
		return fmt.Sprintf("command %q", o.Command)
	}
	return o.Kind
}

func (o RewardOptions) validate() error {
	switch o.Kind {
	case "", recordedReward, testsReward, similarityReward:
		if o.Command != "" {
			return errors.New("--command is for --reward command")
		}
	case commandReward:
		if o.Command == "" || o.Timeout <= 0 {
			return errors.New("--reward command needs a --command and a deadline above 0")
		}
	default:
		return fmt.Errorf("--reward %q: there are %s, %s, %s and %s", o.Kind, recordedReward, testsReward, similarityReward, commandReward)
	}
	if o.InFlight < 1 {
		return fmt.Errorf("--in-flight %d: at least 1 trajectory must be graded at once", o.InFlight)
	}
	return nil
}

// grader opens what gives rewards, nil where the recorded ones stay.
func (p *reprocessing) grader(ctx context.Context) (reprocess.Grader, func() error, error) {
	nothing := func() error { return nil }
	switch p.Reward.Kind {
	case "":
		return nil, nothing, nil
	case testsReward:
		cache, err := warmCache(ctx, p.screen)
		if err != nil {
			return nil, nil, err
		}
		scorer, err := train.OpenScorer(p.config, p.Out, cache)
		if err != nil {
			return nil, nil, err
		}
		return grade(func(ctx context.Context, r schemas.Reward) (schemas.Reward, error) {
			return scorer.Score(ctx, r.Trajectory)
		}), scorer.Close, nil
	case similarityReward:
		return grade(func(ctx context.Context, r schemas.Reward) (schemas.Reward, error) {
			return score.Similarity{}.Score(ctx, r.Trajectory)
		}), nothing, nil
	case commandReward:
		return grade(score.Command{Line: p.Reward.Command, Timeout: p.Reward.Timeout}.Score), nothing, nil
	}
	return grade(func(_ context.Context, r schemas.Reward) (schemas.Reward, error) { return score.Recorded(r), nil }), nothing, nil
}

// grade is a function as a grader.
type grade func(ctx context.Context, r schemas.Reward) (schemas.Reward, error)

// Grade implements reprocess.Grader.
func (g grade) Grade(ctx context.Context, r schemas.Reward) (schemas.Reward, error) { return g(ctx, r) }
