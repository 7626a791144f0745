package reprocess

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
)

// Config says what is reprocessed, how, and where it goes.
type Config struct {
	// Name is the job's; two of one name do not run at once in a process.
	Name      string
	Source    Source
	Selection Selection
	// Grader gives new rewards, InFlight at once in each lane; nil keeps the recorded
	// ones.
	Grader    Grader
	InFlight  int
	Filter    filter.Config
	Advantage advantage.Config
	Sink      Sink
	// Originals are what to compare with, nil if they are not at hand.
	Originals Originals
}

// job is a reprocessing under way.
type job struct {
	Config
	ctx   context.Context // of Run; a runner's own may outlive it
	lanes []lane
}

// lane is what belongs to one lane. Its steps are fused, so one goroutine has it.
type lane struct {
	begun    bool
	report   *Report
	finished map[string]int64 // of the members of open groups, by id
}

// Run reprocesses and commits the sink. The report has no Input, Output and Settings
// yet. After an error nothing is committed.
func Run(ctx context.Context, start stage.Start, c Config) (_ *Report, err error) {
	began := time.Now()
	defer c.Sink.Abandon()
	if err := errors.Join(c.Filter.Validate(), c.Advantage.Validate()); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	j := &job{Config: c, ctx: ctx, lanes: make([]lane, c.Source.Lanes())}
	for i := range j.lanes {
		j.lanes[i] = lane{report: newReport(), finished: map[string]int64{}}
	}
	if _, taken := jobs.LoadOrStore(c.Name, j); taken {
		return nil, fmt.Errorf("a reprocessing named %q runs in this process already", c.Name)
	}
	defer jobs.Delete(c.Name)
	running, err := start(ctx, c.Name, Pipeline(c.Name, len(j.lanes), c.Filter, c.Advantage))
	if err != nil {
		return nil, err
	}
	// The job ends by itself, also when ctx does: its lanes read under it.
	if err := running.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	report := newReport()
	for i := range j.lanes {
		report.merge(j.lanes[i].report)
	}
	if err := report.check(); err != nil {
		return nil, fmt.Errorf("reprocessing does not balance, nothing is committed: %w", err)
	}
	if err := c.Sink.Commit(ctx); err != nil {
		return nil, err
	}
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}

// begin refuses to read a lane twice: a runner that tries a bundle again would have its
// samples written twice.
func (j *job) begin(lane int) error {
	if l := &j.lanes[lane]; l.begun {
		return fmt.Errorf("lane %d is read a second time: start the reprocessing anew", lane)
	}
	j.lanes[lane].begun = true
	return nil
}

// read emits the selected trajectories of a lane with the reward that they have now.
func (j *job) read(number int, emit func(schemas.Member)) error {
	l := &j.lanes[number]
	report := l.report
	return j.graded(j.ctx, number, j.Selection.Group, func(v visited) error {
		if v.letter != nil {
			report.Records.Undecodable++
			return j.letter(number, *v.letter)
		}
		t := &v.after.Trajectory
		if j.Selection.Group != nil && !j.Selection.Group(t.GroupID) {
			return nil // most sources have not even decoded it
		}
		if !j.Selection.takes(t) {
			report.Records.Skipped++
			return nil
		}
		report.Records.Read++
		report.Tokens += int64(len(t.Tokens))
		report.Rewards.rewarded(v.before.Failure != "", v.after.Failure != "", v.before.Value, v.after.Value)
		if j.Grader != nil {
			if err := j.regraded(number, v); err != nil {
				return err
			}
		}
		l.finished[t.ID] = t.Finished
		emit(schemas.Member{Reward: v.after, Source: v.source})
		return nil
	})
}

// regraded writes a trajectory that was graded, and a dead letter if that failed. A
// tombstone has the letter of the stage that gave it up.
func (j *job) regraded(lane int, v visited) error {
	t := &v.after.Trajectory
	if err := v.after.Validate(); err != nil {
		return fmt.Errorf("grading trajectory %s: %w", t.ID, err)
	}
	if err := j.Sink.Reward(j.ctx, lane, v.after); err != nil {
		return err
	}
	if v.after.Failure == "" || t.Termination == schemas.Failed {
		return nil
	}
	payload, err := schemas.Rewards.Encode(v.before)
	if err != nil {
		return err
	}
	return j.letter(lane, schemas.DeadLetter{
		ID: "score/" + t.ID, Stage: "score", Reason: schemas.ScoringFailure, Message: v.after.Failure,
		RecordID: t.ID, Key: []byte(t.GroupID), Payload: payload, Source: v.source, Attempts: 1,
	})
}

func (j *job) letter(lane int, d schemas.DeadLetter) error {
	if d.Time == 0 {
		d.Time = now()
	}
	j.lanes[lane].report.Records.DeadLetters[string(d.Reason)]++
	return j.Sink.Letter(j.ctx, lane, d)
}

// write takes what left a group of a lane.
func (j *job) write(number int, c advantage.Closed) error {
	l := &j.lanes[number]
	report := l.report
	for _, d := range c.DeadLetters {
		if err := j.letter(number, d); err != nil {
			return err
		}
	}
	if len(c.Samples) == 0 {
		if len(c.DeadLetters) > 0 {
			report.Records.Refused++
		} else {
			report.Records.Repeats++
		}
		return nil
	}
	report.Records.Samples += int64(len(c.Samples))
	report.Groups.Closed++
	if first := c.Samples[0]; first.GroupMembers < first.GroupSize {
		report.Groups.Short++
	}
	finished := make([]int64, len(c.Samples))
	teaches, taught := false, false
	for i, s := range c.Samples {
		finished[i] = l.finished[s.ID]
		delete(l.finished, s.ID)
		after, err := outcomeOf(s)
		if err != nil {
			return err
		}
		report.fate(after.fate).After++
		teaches = teaches || after.teaches()
		if before, ok := j.Originals[s.ID]; ok {
			report.compare(before, after)
			taught = taught || before.teaches()
		}
	}
	if teaches {
		report.Groups.Teaching.After++
	}
	if taught {
		report.Groups.Teaching.Before++
	}
	return j.Sink.Samples(j.ctx, number, c.Samples, finished)
}
