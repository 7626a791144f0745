// Package ledger answers for a run: what made each step, what became of a
// trajectory, and whether everything that entered a stage left it.
//
// It reads the run's topics, the positions that the stages committed, and the
// learner's ledger, and holds of each record only what its questions need: a few
// hundred bytes a trajectory.
package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"millrace/schemas"
)

// The stages, upstream first.
const (
	rolloutStage   = "rollout"
	scoreStage     = "score"
	advantageStage = "advantage"
	learnStage     = "learn"
)

// Stages names the stages of a run that makes its own trajectories, upstream first.
func Stages() []string { return []string{rolloutStage, scoreStage, advantageStage, learnStage} }

// Log is what a run left. Records that were delivered more than once are in it
// once.
type Log struct {
	orders       map[string]order // by group
	trajectories map[string]trajectory
	rewarded     map[string]rewarded
	samples      map[string]sample
	letters      []schemas.DeadLetter // without key and payload
	letterIDs    map[string]bool
	// broken are the records that cannot be decoded, by the stage that reads them.
	broken map[string][]schemas.Position
	// elsewhere are the stages that were not part of the run.
	elsewhere map[string]bool
	// committed is the next record that a stage reads after a restart, by stage.
	committed map[string]map[int32]int64
	// updates are the committed steps in the order of the learner's ledger.
	updates []schemas.Update
	// published are the steps on the ledger topic.
	published map[int64]bool
}

type order struct {
	rollouts int32
	source   schemas.Position
}

type trajectory struct {
	group       string
	rollout     int32
	task        string
	snapshot    string
	image       string // digest of the image's content, empty without an image
	first, last int32  // policy versions of its sampled tokens; -1 where none was sampled
	termination schemas.Termination
	source      schemas.Position
}

type rewarded struct {
	value   float64
	failure string
	source  schemas.Position
}

type sample struct {
	group       string
	reward      float64
	advantage   float64
	weight      float32
	excluded    string
	termination schemas.Termination
	trained     int // tokens that the loss sees
	source      schemas.Position
}

// NewLog returns a log without records.
func NewLog() *Log {
	return &Log{
		orders: map[string]order{}, trajectories: map[string]trajectory{}, rewarded: map[string]rewarded{}, samples: map[string]sample{},
		letterIDs: map[string]bool{}, broken: map[string][]schemas.Position{}, elsewhere: map[string]bool{}, committed: map[string]map[int32]int64{}, published: map[int64]bool{},
	}
}

// Order adds a work order of the tasks topic.
func (l *Log) Order(run string, t schemas.Task, source schemas.Position) {
	id := schemas.GroupID(run, t.ID, t.Iteration)
	if _, twice := l.orders[id]; !twice {
		l.orders[id] = order{t.Rollouts, source}
	}
}

// Trajectory adds a trajectory.
func (l *Log) Trajectory(t schemas.Trajectory, source schemas.Position) {
	if _, twice := l.trajectories[t.ID]; twice {
		return
	}
	first, last := int32(-1), int32(-1)
	for _, v := range t.Versions {
		if v >= 0 && (first < 0 || v < first) {
			first = v
		}
		last = max(last, v)
	}
	l.trajectories[t.ID] = trajectory{group: t.GroupID, rollout: t.Rollout, task: t.Task.ID, snapshot: Snapshot(t.Task), image: t.ImageDigest,
		first: first, last: last, termination: t.Termination, source: source}
}

// Reward adds a scored trajectory.
func (l *Log) Reward(r schemas.Reward, source schemas.Position) {
	if _, twice := l.rewarded[r.Trajectory.ID]; !twice {
		l.rewarded[r.Trajectory.ID] = rewarded{r.Value, r.Failure, source}
	}
}

// Sample adds a sample.
func (l *Log) Sample(s schemas.Sample, source schemas.Position) {
	if _, twice := l.samples[s.ID]; twice {
		return
	}
	trained := 0
	for _, m := range s.LossMask {
		if m {
			trained++
		}
	}
	l.samples[s.ID] = sample{group: s.GroupID, reward: s.Reward, advantage: s.Advantage, weight: s.Weight, excluded: s.Excluded,
		termination: s.Termination, trained: trained, source: source}
}

// Letter adds a dead letter.
func (l *Log) Letter(d schemas.DeadLetter) {
	if l.letterIDs[d.ID] {
		return
	}
	l.letterIDs[d.ID] = true
	d.Key, d.Payload = nil, nil
	l.letters = append(l.letters, d)
}

// Broken adds a record that the stage which reads it cannot decode.
func (l *Log) Broken(stage string, source schemas.Position) {
	l.broken[stage] = append(l.broken[stage], source)
}

// Elsewhere tells that a stage was not part of the run: what it would have made came
// from another one.
func (l *Log) Elsewhere(stage string) { l.elsewhere[stage] = true }

// Committed tells where a stage goes on reading.
func (l *Log) Committed(stage string, partition int32, offset int64) {
	if l.committed[stage] == nil {
		l.committed[stage] = map[int32]int64{}
	}
	l.committed[stage][partition] = offset
}

// Update adds a committed step.
func (l *Log) Update(u schemas.Update) { l.updates = append(l.updates, u) }

// Published adds a step that is on the ledger topic.
func (l *Log) Published(step int64) { l.published[step] = true }

// Snapshot names the repository snapshot of a task: its image, which has a digest
// in its name where the task set pins it, or the SHA-256 of its files, to 16
// digits.
func Snapshot(t schemas.Task) string {
	if t.Image != "" {
		return t.Image
	}
	h := sha256.New()
	for _, f := range t.Files {
		for _, part := range []string{f.Path, f.Content} {
			var length [8]byte
			binary.LittleEndian.PutUint64(length[:], uint64(len(part)))
			h.Write(length[:])
			h.Write([]byte(part))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:8])
}
