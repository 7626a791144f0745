package ledger

import (
	"fmt"
	"strings"
	"testing"

	"millrace/schemas"
)

// played is the log of a run of two steps, each of one group of three: what the
// first group's rollouts earned is 1, 0 and 0; the second group has no spread, its
// last rollout was lost to the infrastructure. skip leaves a record out:
// "<topic> <group>#<rollout>".
func played(skip string) *Log {
	l := NewLog()
	put := func(topic string, iteration, rollout int, add func()) {
		if skip != fmt.Sprintf("%s %d#%d", topic, iteration, rollout) {
			add()
		}
	}
	for iteration := range 2 {
		task := schemas.Task{ID: "wrap", Iteration: int64(iteration), Rollouts: 3, Files: []schemas.File{{Path: "a.go", Content: "package a"}}}
		group := schemas.GroupID("r", "wrap", int64(iteration))
		l.Order("r", task, schemas.Position{Topic: "r.tasks", Offset: int64(iteration)})
		var members []string
		for i := range 3 {
			offset := int64(3*iteration + i)
			lost := iteration == 1 && i == 2
			t := schemas.Trajectory{ID: schemas.TrajectoryID("r", "wrap", int64(iteration), int32(i), 0), GroupID: group, Rollout: int32(i), Task: task,
				Termination: schemas.Finished, Versions: []int32{-1, int32(iteration)}}
			if iteration == 0 {
				t.ImageDigest = "sha256:5eed"
			}
			s := schemas.Sample{ID: t.ID, GroupID: group, Weight: 1, LossMask: []bool{false, true}, Termination: schemas.Finished}
			r := schemas.Reward{Trajectory: t}
			if iteration == 0 {
				r.Value, s.Reward, s.Advantage = float64(1-min(i, 1)), float64(1-min(i, 1)), 0.5
			}
			if lost {
				t.Termination, t.Failure, r.Failure = schemas.Failed, "no namespace", "rollout: no namespace"
				s.Weight, s.Excluded, s.Termination, s.LossMask = 0, "failed", schemas.Failed, nil
				put("letters", iteration, i, func() {
					l.Letter(schemas.DeadLetter{ID: "rollout/" + t.ID, Stage: "rollout", Reason: schemas.SandboxFailure, Message: "no namespace", RecordID: t.ID})
				})
			}
			put("trajectories", iteration, i, func() { l.Trajectory(t, schemas.Position{Topic: "r.trajectories", Offset: offset}) })
			put("rewarded", iteration, i, func() { l.Reward(r, schemas.Position{Topic: "r.rewarded", Offset: offset}) })
			put("samples", iteration, i, func() { l.Sample(s, schemas.Position{Topic: "r.samples", Offset: offset}) })
			put("ledger", iteration, i, func() { members = append(members, s.ID) })
		}
		l.Update(schemas.Update{Run: "r", Step: int64(iteration + 1), SampleIDs: members, GroupIDs: []string{group}, CodeVersion: "0e2821f"})
		l.Published(int64(iteration + 1))
	}
	for stage, offset := range map[string]int64{"rollout": 2, "score": 6, "advantage": 6, "learn": 6} {
		l.Committed(stage, 0, offset)
	}
	return l
}

// problems are those of an audit, "<stage>: <problem>".
func problems(l *Log) []string {
	var out []string
	for _, b := range l.Audit() {
		for _, p := range b.Problems {
			out = append(out, b.Stage+": "+p)
		}
		if len(b.Problems) == 0 && b.In != b.Out+b.Dead+b.Pending {
			out = append(out, fmt.Sprintf("%s: %+v does not add up", b.Stage, b))
		}
	}
	return out
}

func TestSoundLogBalances(t *testing.T) {
	l := played("")
	if found := problems(l); found != nil {
		t.Errorf("problems: %q", found)
	}
	if b := l.Audit()[0]; b.In != 6 || b.Out != 6 {
		t.Errorf("rollout is %+v", b)
	}
}

// TestNothingVanishes (invariants 2 and 6): whatever is missing, doubled or out of
// place is named, in the stage where it was lost, and nowhere else.
func TestNothingVanishes(t *testing.T) {
	update := func(step int64, ids ...string) func(*Log) {
		return func(l *Log) { l.Update(schemas.Update{Run: "r", Step: step, SampleIDs: ids}); l.Published(step) }
	}
	for _, c := range []struct {
		name, skip string
		change     func(*Log)
		want       string
	}{
		{"a lost trajectory", "trajectories 0#1", nil, "rollout: lost r/0/wrap#1, read at r.tasks[0]@0|score: made r/0/wrap#1.0 of nothing that it has read"},
		{"a lost reward", "rewarded 0#1", nil, "score: lost r/0/wrap#1.0, read at r.trajectories[0]@1|advantage: made r/0/wrap#1.0 of nothing that it has read"},
		{"a lost sample", "samples 1#0", nil, "advantage: lost r/1/wrap#0.0, read at r.rewarded[0]@3|learn: made r/1/wrap#0.0 of nothing that it has read"},
		{"a sample in no step", "ledger 1#1", nil, "learn: lost r/1/wrap#1.0, read at r.samples[0]@4"},
		{"a tombstone without a letter", "letters 1#2", nil, "rollout: gave up r/1/wrap#2.0 without a dead letter"},
		{"a doubled sample", "", update(3, "r/0/wrap#0.0"), "ledger: holds sample r/0/wrap#0.0 in step 1 and in step 3"},
		{"a gap", "", update(4), "ledger: holds step 4 behind step 2"},
		{"a step that was not published", "", func(l *Log) {
			delete(l.published, 1)
			for step := int64(3); step <= 12; step++ {
				update(step)(l)
			}
		}, "ledger: step 1 is not on the ledger topic"},
		{"a record that nobody could decode", "", func(l *Log) { l.Broken("score", schemas.Position{Topic: "r.trajectories", Offset: 5}) },
			"score: lost the record at r.trajectories[0]@5, which cannot be decoded"},
	} {
		l := played(c.skip)
		if c.change != nil {
			c.change(l)
		}
		if got := strings.Join(problems(l), "|"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestLeavingOtherwiseIsNoLoss: dead letters stand for records, whether these can
// be decoded or not; what is behind the committed position will be read yet; the
// last steps may be published by the next resume.
func TestLeavingOtherwiseIsNoLoss(t *testing.T) {
	for _, c := range []struct {
		name, skip string
		change     func(*Log)
		stage      int
		want       Balance
	}{
		{"dead-lettered", "ledger 1#1", func(l *Log) {
			l.Letter(schemas.DeadLetter{ID: "x", Stage: "learn", Reason: schemas.Stale, RecordID: "r/1/wrap#1.0"})
		}, 3, Balance{Stage: "learn", In: 6, Out: 5, Dead: 1}},
		{"undecodable and dead-lettered", "", func(l *Log) {
			at := schemas.Position{Topic: "r.trajectories", Offset: 5}
			l.Broken("score", at)
			l.Letter(schemas.DeadLetter{ID: "x", Stage: "score", Reason: schemas.Corrupt, Source: at})
		}, 1, Balance{Stage: "score", In: 7, Out: 6, Dead: 1}},
		{"dropped by its step", "ledger 1#1", func(l *Log) { l.updates[1].DroppedIDs = []string{"r/1/wrap#1.0"} }, 3, Balance{Stage: "learn", In: 6, Out: 5, Dead: 1}},
		{"not read yet", "ledger 1#2", func(l *Log) { l.Committed("learn", 0, 5) }, 3, Balance{Stage: "learn", In: 6, Out: 5, Pending: 1}},
		{"not published yet", "", func(l *Log) { delete(l.published, 2) }, 4, Balance{Stage: "ledger", In: 2, Out: 1, Pending: 1}},
	} {
		l := played(c.skip)
		c.change(l)
		if found := problems(l); found != nil {
			t.Errorf("%s: problems %q", c.name, found)
		}
		if got := l.Audit()[c.stage]; fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestTrace(t *testing.T) {
	for _, c := range []struct {
		id, skip string
		change   func(*Log)
		want     []string
	}{
		{"r/0/wrap#0.0", "", nil, []string{"rollout ended as finished, sampled by policy versions 0, in the image sha256:5eed r.trajectories", "score reward 1", "advantage reward 1, advantage 0.5, 1 tokens", "learn entered step 1"}},
		{"r/1/wrap#0.0", "", nil, []string{"rollout ended as finished, sampled by policy versions 1 r.trajectories", "learn entered step 2 and moved nothing: no spread: every member of its group that counts has reward 0"}},
		{"r/1/wrap#2.0", "", nil, []string{"rollout dead letter rollout/r/1/wrap#2.0 (sandbox_failure): no namespace", "score no reward", "advantage excluded by the filter: failed", "learn entered step 2 and moved nothing: excluded by the filter (failed)"}},
		{"r/0/wrap#0.0", "", func(l *Log) {
			s := l.samples["r/0/wrap#0.0"]
			s.trained, s.termination = 0, schemas.StepLimit
			l.samples["r/0/wrap#0.0"] = s
		}, []string{"moved nothing: it ended at a limit (steps)"}},
		{"r/1/wrap#1.0", "ledger 1#1", func(l *Log) {
			l.updates[1].DroppedIDs = []string{"r/1/wrap#1.0"}
			l.Letter(schemas.DeadLetter{ID: "x", Stage: "learn", Reason: schemas.Stale, Message: "sampled 4 versions before", RecordID: "r/1/wrap#1.0"})
		}, []string{"learn dead letter x (stale): sampled 4 versions before", "learn entered no step: dropped when step 2"}},
		{"r/1/wrap#2.0", "ledger 1#2", func(l *Log) { l.Committed("learn", 0, 5) }, []string{"learn entered no step yet"}},
		{"r/1/wrap#1.0", "samples 1#1", func(l *Log) { l.updates[1].SampleIDs = nil }, []string{"learn entered no step: got no further than score"}},
	} {
		l := played(c.skip)
		if c.change != nil {
			c.change(l)
		}
		events, err := l.Trace(c.id)
		if err != nil {
			t.Error(err)
			continue
		}
		var told strings.Builder
		for _, e := range events {
			fmt.Fprintf(&told, "%s %s %s\n", e.Stage, e.What, e.Source)
		}
		for _, w := range c.want {
			if !strings.Contains(told.String(), w) {
				t.Errorf("%s: %q is not told:\n%s", c.id, w, told.String())
			}
		}
	}
	_, err := played("").Trace("r/1/wrap#7.0")
	if err == nil || !strings.Contains(err.Error(), "r/1/wrap#0.0") {
		t.Errorf("unknown id: %v", err)
	}
}

func TestMembersOfAStep(t *testing.T) {
	l := played("")
	members, err := l.Members(1)
	if err != nil || len(members) != 3 {
		t.Fatalf("%d members, %v", len(members), err)
	}
	want := Member{ID: "r/0/wrap#0.0", Task: "wrap", Snapshot: members[1].Snapshot, ImageDigest: "sha256:5eed", Versions: "0", Reward: 1, Advantage: 0.5, Termination: schemas.Finished}
	if members[0] != want || !strings.HasPrefix(want.Snapshot, "sha256:") {
		t.Errorf("member is %+v, want %+v", members[0], want)
	}
	if later, err := l.Members(2); err != nil || later[0].ImageDigest != "" {
		t.Errorf("members without an image are %+v, %v", later, err)
	}
	if _, err := l.Members(3); err == nil || !strings.Contains(err.Error(), "steps 1 to 2") {
		t.Errorf("step 3: %v", err)
	}
	if steps := l.Steps(); steps[0].Samples != 3 || steps[0].CodeVersion != "0e2821f" || steps[1].Trained != 0 {
		t.Errorf("steps are %+v", steps)
	}
}

// TestSnapshot: names and contents count, and where one ends and the other begins.
func TestSnapshot(t *testing.T) {
	seen := map[string]bool{}
	for _, files := range [][]schemas.File{nil, {{Path: "a", Content: "bc"}}, {{Path: "ab", Content: "c"}}, {{Path: "a", Content: "b"}, {Path: "c"}}} {
		seen[Snapshot(schemas.Task{Files: files})] = true
	}
	if len(seen) != 4 {
		t.Errorf("snapshots %v", seen)
	}
	if got := Snapshot(schemas.Task{Image: "repo@sha256:5eed"}); got != "repo@sha256:5eed" {
		t.Errorf("image is %q", got)
	}
}
