package schemas

import "fmt"

// Termination says why a rollout ended. It is stored on the trajectory because
// compact filtering decides by it.
type Termination string

// The termination reasons. Finished is the only one in which no limit ended the
// rollout.
const (
	Finished    Termination = "finished"    // the agent called finish or submit, or its text environment ended
	ContextFull Termination = "context"     // the next turn would not fit the context
	StepLimit   Termination = "steps"       // the last allowed environment step was taken
	TimeLimit   Termination = "time"        // the trajectory's time limit passed
	ActionLimit Termination = "action_time" // one action used up the trajectory's remaining time
	Malformed   Termination = "malformed"   // too many turns in a row held no usable call
	Failed      Termination = "failed"      // infrastructure failure after all attempts: a tombstone
)

// Step is one turn of the agent: what it sampled and what the environment
// answered.
type Step struct {
	// TokenStart and TokenEnd bound the sampled tokens of this turn in
	// Trajectory.Tokens, half open.
	TokenStart, TokenEnd int32
	// Tool is the name of the called tool, with its command if it has several
	// ("file_editor.view"), or the action in a text environment; empty if none was
	// found.
	Tool string
	// Action is the sampled text.
	Action string
	// Observation is the text shown to the agent in answer.
	Observation string
	// ExitCode is the command's exit status, -1 when it did not exit by itself.
	ExitCode int32
	// Sampling and Acting are the durations of the turn's two halves, in microseconds.
	Sampling, Acting int64
}

// Trajectory is the record of one rollout.
//
// Tokens, LossMask, LogProbs and Versions have equal length. The ids are the
// ids sampled (invariant 3: token in, token out); nothing is re-tokenised.
type Trajectory struct {
	// ID is TrajectoryID(Run, Task.ID, Iteration, Rollout, Attempt).
	ID string
	// GroupID is GroupID(Run, Task.ID, Iteration) and the Kafka key.
	GroupID   string
	Run       string
	Iteration int64
	Rollout   int32
	// Attempt counts infrastructure retries of this rollout, from 0.
	Attempt int32
	// Task is the work order, hidden tests included: scoring is a function of
	// this record alone.
	Task Task
	// Tokens is the whole sequence, prompt first.
	Tokens []int32
	// LossMask is true exactly at sampled tokens.
	LossMask []bool
	// LogProbs is the log-probability of each sampled token under the
	// distribution it was sampled from, 0 elsewhere.
	LogProbs []float32
	// Versions is the policy version that sampled each token, -1 elsewhere.
	Versions []int32
	Steps    []Step
	// Termination is why the rollout ended; Failure says more when it is Failed.
	Termination Termination
	Failure     string
	// Patch is the unified diff of the workspace against the snapshot.
	Patch string
	// Started and Finished are Unix times in microseconds.
	Started, Finished int64
	// ImageDigest identifies the content of the image that the agent worked in;
	// empty without one, and in version 1.
	ImageDigest string
}

// Trajectories is the codec of Trajectory.
var Trajectories = newCodec("trajectory", trajectoryColumns, trajectoryColumnsV2, trajectoryColumnsV3)

var stepColumns = []column[Step]{
	i32("token_start", func(s *Step) *int32 { return &s.TokenStart }),
	i32("token_end", func(s *Step) *int32 { return &s.TokenEnd }),
	text("tool", func(s *Step) *string { return &s.Tool }),
	text("action", func(s *Step) *string { return &s.Action }),
	text("observation", func(s *Step) *string { return &s.Observation }),
	i32("exit_code", func(s *Step) *int32 { return &s.ExitCode }),
	i64("sampling_us", func(s *Step) *int64 { return &s.Sampling }),
	i64("acting_us", func(s *Step) *int64 { return &s.Acting }),
}

var trajectoryColumns = trajectoryOf(taskColumns)

// Version 2 has tasks of version 2, and names the image's content.
var trajectoryColumnsV2 = append(trajectoryOf(taskColumnsV2), imageDigestColumn)

// Version 3 has tasks of version 3.
var trajectoryColumnsV3 = append(trajectoryOf(taskColumnsV3), imageDigestColumn)

var imageDigestColumn = text("image_digest", func(t *Trajectory) *string { return &t.ImageDigest })

func trajectoryOf(task []column[Task]) []column[Trajectory] {
	return []column[Trajectory]{
		text("id", func(t *Trajectory) *string { return &t.ID }),
		text("group_id", func(t *Trajectory) *string { return &t.GroupID }),
		text("run", func(t *Trajectory) *string { return &t.Run }),
		i64("iteration", func(t *Trajectory) *int64 { return &t.Iteration }),
		i32("rollout", func(t *Trajectory) *int32 { return &t.Rollout }),
		i32("attempt", func(t *Trajectory) *int32 { return &t.Attempt }),
		nested("task", func(t *Trajectory) *Task { return &t.Task }, task),
		i32s("tokens", func(t *Trajectory) *[]int32 { return &t.Tokens }),
		bools("loss_mask", func(t *Trajectory) *[]bool { return &t.LossMask }),
		f32s("log_probs", func(t *Trajectory) *[]float32 { return &t.LogProbs }),
		i32s("versions", func(t *Trajectory) *[]int32 { return &t.Versions }),
		structs("steps", func(t *Trajectory) *[]Step { return &t.Steps }, stepColumns),
		text("termination", func(t *Trajectory) *Termination { return &t.Termination }),
		text("failure", func(t *Trajectory) *string { return &t.Failure }),
		blob("patch", func(t *Trajectory) *string { return &t.Patch }),
		i64("started_us", func(t *Trajectory) *int64 { return &t.Started }),
		i64("finished_us", func(t *Trajectory) *int64 { return &t.Finished }),
	}
}

// Validate checks the contract: ids, a valid task, token columns of equal length
// that agree with the mask, steps inside the tokens and in order, a known
// termination reason, and a Failure exactly when it is Failed.
func (t Trajectory) Validate() error {
	c := &contract{schema: "trajectory", id: t.ID}
	t.check(c, "")
	return c.err()
}

func (t *Trajectory) check(c *contract, prefix string) {
	c.name(prefix+"ID", t.ID)
	c.name(prefix+"GroupID", t.GroupID)
	c.utf8(prefix+"Run", t.Run)
	c.notNegative(prefix+"Iteration", t.Iteration)
	c.notNegative(prefix+"Rollout", int64(t.Rollout))
	c.notNegative(prefix+"Attempt", int64(t.Attempt))
	t.Task.check(c, prefix+"Task.")
	c.tokens(t.Tokens, t.LossMask, t.LogProbs, t.Versions)
	end := int32(0)
	for i, s := range t.Steps {
		if s.TokenStart < end || s.TokenEnd < s.TokenStart || int(s.TokenEnd) > len(t.Tokens) {
			c.fail(Invalid, fmt.Sprintf("%sSteps[%d]", prefix, i), "spans tokens [%d, %d) behind %d of %d",
				s.TokenStart, s.TokenEnd, end, len(t.Tokens))
			return
		}
		end = s.TokenEnd
	}
	c.termination(prefix+"Termination", t.Termination)
	if (t.Failure != "") != (t.Termination == Failed) {
		c.fail(Invalid, prefix+"Failure", "is %q with termination %q", t.Failure, t.Termination)
	}
}
