package score

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"millrace/schemas"
)

// Command rewards a trajectory by what a command of the user's prints: one finite
// number. The command runs on this host as its user, by "sh -c", and is given the
// trajectory as one JSON object on standard input (see [CommandInput]).
//
// A command that fails, prints anything else or exceeds its deadline is a failure of
// the reward (invariant 1). It is tried once. A tombstone is not shown to it.
type Command struct {
	// Line is the command line.
	Line string
	// Timeout is its deadline; everything it started is killed then.
	Timeout time.Duration
}

// CommandInput is what a command reads. Token ids are not in it.
type CommandInput struct {
	ID            string         `json:"id"`
	GroupID       string         `json:"group_id"`
	Iteration     int64          `json:"iteration"`
	Rollout       int32          `json:"rollout"`
	Task          CommandTask    `json:"task"`
	Termination   string         `json:"termination"`
	Patch         string         `json:"patch"`
	Steps         []CommandStep  `json:"steps"`
	Tokens        int            `json:"tokens"`
	SampledTokens int            `json:"sampled_tokens"`
	Seconds       float64        `json:"seconds"`
	Recorded      *CommandReward `json:"recorded"` // null where none was given
}

// CommandTask is the task of a trajectory.
type CommandTask struct {
	ID         string            `json:"id"`
	Repo       string            `json:"repo"`
	Statement  string            `json:"statement"`
	Files      map[string]string `json:"files"`
	GoldPatch  string            `json:"gold_patch"`
	FailToPass []string          `json:"fail_to_pass"`
	PassToPass []string          `json:"pass_to_pass"`
}

// CommandStep is a turn.
type CommandStep struct {
	Tool        string `json:"tool"`
	Action      string `json:"action"`
	Observation string `json:"observation"`
	ExitCode    int32  `json:"exit_code"`
}

// CommandReward is the reward that the trajectory had.
type CommandReward struct {
	Value       float64  `json:"value"`
	TestsPassed []string `json:"tests_passed"`
	TestsFailed []string `json:"tests_failed"`
	Output      string   `json:"output"`
}

func commandInput(r schemas.Reward) CommandInput {
	t := &r.Trajectory
	in := CommandInput{
		ID: t.ID, GroupID: t.GroupID, Iteration: t.Iteration, Rollout: t.Rollout,
		Task: CommandTask{ID: t.Task.ID, Repo: t.Task.Repo, Statement: t.Task.Statement, Files: map[string]string{},
			GoldPatch: t.Task.GoldPatch, FailToPass: t.Task.FailToPass, PassToPass: t.Task.PassToPass},
		Termination: string(t.Termination), Patch: t.Patch, Steps: []CommandStep{}, Tokens: len(t.Tokens),
		Seconds: float64(t.Finished-t.Started) / 1e6,
	}
	for _, f := range t.Task.Files {
		in.Task.Files[f.Path] = f.Content
	}
	for _, s := range t.Steps {
		in.Steps = append(in.Steps, CommandStep{s.Tool, s.Action, s.Observation, s.ExitCode})
	}
	for _, m := range t.LossMask {
		if m {
			in.SampledTokens++
		}
	}
	if r.Failure == "" {
		in.Recorded = &CommandReward{r.Value, r.Passed, r.FailedTests, r.Output}
	}
	return in
}

// commandOutput bounds what is read of the command: a number takes far less.
const commandOutput = 4 << 10

// Score returns the reward; r is the one that the trajectory had. The error is the end
// of ctx.
func (c Command) Score(ctx context.Context, r schemas.Reward) (schemas.Reward, error) {
	started := time.Now()
	out := schemas.Reward{Trajectory: r.Trajectory}
	if r.Trajectory.Termination == schemas.Failed {
		out.Failure = "rollout: " + r.Trajectory.Failure
		return out, nil
	}
	value, err := c.run(ctx, r)
	switch {
	case ctx.Err() != nil:
		return schemas.Reward{}, context.Cause(ctx)
	case err != nil:
		out.Failure = err.Error()
	default:
		out.Value = value
	}
	out.Duration = time.Since(started).Microseconds()
	return out, nil
}

func (c Command) run(ctx context.Context, r schemas.Reward) (float64, error) {
	input, err := json.Marshal(commandInput(r))
	if err != nil {
		return 0, fmt.Errorf("writing trajectory %s as JSON: %w", r.Trajectory.ID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	var stdout, stderr bounded
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &stdout, &stderr
	killWithChildren(cmd)
	err = cmd.Run()
	text := strings.TrimSpace(string(stdout.b))
	value, parseErr := strconv.ParseFloat(text, 64)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("the reward command did not end within %s", c.Timeout)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return 0, fmt.Errorf("the reward command failed: %w: %s", err, strings.ToValidUTF8(strings.TrimSpace(string(stderr.b)), "?"))
	case parseErr != nil || math.IsNaN(value) || math.IsInf(value, 0):
		return 0, fmt.Errorf("the reward command printed %.100q, not one finite number", text)
	}
	return value, nil
}

// bounded keeps the first commandOutput bytes of what is written to it.
type bounded struct{ b []byte }

func (w *bounded) Write(p []byte) (int, error) {
	w.b = append(w.b, p[:min(len(p), commandOutput-len(w.b))]...)
	return len(p), nil
}
