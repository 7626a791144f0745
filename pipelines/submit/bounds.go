package submit

import (
	"fmt"
	"slices"
	"strings"

	"millrace/pipelines/stage"
)

// The stages that a job may have, upstream first.
const (
	Rollout   = "rollout"
	Score     = "score"
	Filter    = "filter"
	Advantage = "advantage"
)

var order = []string{Rollout, Score, Filter, Advantage}

// contiguous checks that stages are one stretch of the order.
func contiguous(stages []string) error {
	for i, s := range stages {
		at := slices.Index(order, s)
		if at < 0 {
			return fmt.Errorf("%q is none of %s", s, strings.Join(order, ", "))
		}
		if i > 0 && at != slices.Index(order, stages[i-1])+1 {
			return fmt.Errorf("%s behind %s: want one stretch of %s", s, stages[i-1], strings.Join(order, ", "))
		}
	}
	if len(stages) == 0 {
		return fmt.Errorf("there are none: want one stretch of %s", strings.Join(order, ", "))
	}
	return nil
}

func (c Config) has(stage string) bool { return slices.Contains(c.Stages, stage) }

func (c Config) first() string { return c.Stages[0] }

func (c Config) last() string { return c.Stages[len(c.Stages)-1] }

// topics are those of a job: the input of its first stage, the output of every
// stage, and dead letters. Filter and advantage are one pipeline when the job has
// both, so nothing is between them.
func (c Config) topics(job string) stage.Topics {
	all := stage.TopicsOf(job)
	t := stage.Topics{DeadLetters: all.DeadLetters}
	if c.has(Rollout) {
		t.Tasks = all.Tasks
	}
	if c.has(Rollout) || c.has(Score) {
		t.Trajectories = all.Trajectories
	}
	if c.has(Score) || c.has(Filter) {
		t.Rewarded = all.Rewarded
	}
	if c.has(Filter) != c.has(Advantage) {
		t.Filtered = job + ".filtered"
	}
	if c.has(Advantage) {
		t.Samples = all.Samples
	}
	return t
}
