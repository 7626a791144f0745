package train

import (
	"fmt"
	"strings"

	"millrace/pipelines/evaluate"
	"millrace/pipelines/journal"
	"millrace/schemas"
)

// Result is what a run came to.
type Result struct {
	// Evaluations are in the order of the configured sets.
	Evaluations []SetResult
	// Checkpoint is the directory of the last checkpoint.
	Checkpoint string
	// Steps is the number of steps taken, of which the configuration wanted more
	// if the run was drained.
	Steps int64
	Seed  uint64
}

// SetResult is one held-out set before and after training.
type SetResult struct {
	Set           string
	Before, After evaluate.Rate
}

// Summary is the last line of a run:
//
//	held-out pass@1 0.31 -> 0.84 (95% CI 0.79..0.88, n=320, seed 7)
func (r Result) Summary() string {
	if len(r.Evaluations) == 0 {
		return fmt.Sprintf("%d steps, nothing evaluated (seed %d)", r.Steps, r.Seed)
	}
	e := r.Evaluations[0]
	return fmt.Sprintf("held-out pass@1 %.2f -> %.2f (95%% CI %.2f..%.2f, n=%d, seed %d)",
		e.Before.Mean, e.After.Mean, e.After.Low, e.After.High, e.After.Rollouts, r.Seed)
}

// evaluationRecord is the journal's line of an evaluation.
func evaluationRecord(set EvaluationSet, step int64, temperature float64, rate evaluate.Rate, rewards []schemas.Reward) journal.Evaluation {
	e := journal.Evaluation{
		Step: step, Set: set.Split, Temperature: temperature, Samples: int(set.Samples),
		Pass1: journal.Interval{Mean: rate.Mean, Low: rate.Low, High: rate.High},
		Tasks: rate.Tasks, Rollouts: rate.Rollouts,
	}
	for _, r := range rewards {
		if r.Failure != "" {
			e.Failures++
			continue
		}
		e.Steps += float64(len(r.Trajectory.Steps))
		for _, s := range r.Trajectory.Steps {
			e.Tokens += float64(s.TokenEnd - s.TokenStart)
			switch {
			case s.Tool == "execute_bash" && strings.Contains(s.Action, "go test"):
				e.TestsRun++
			case s.Tool == "file_editor.undo_edit":
				e.Undos++
			}
		}
	}
	if n := float64(rate.Rollouts); n > 0 {
		e.Steps, e.TestsRun, e.Undos, e.Tokens = e.Steps/n, e.TestsRun/n, e.Undos/n, e.Tokens/n
	}
	return e
}
