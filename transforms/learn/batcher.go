package learn

import (
	"cmp"
	"fmt"
	"slices"

	"millrace/schemas"
)

// Batcher gathers samples into the batch of a step. It knows no clock, no file
// and no trainer: what it returns is a function of the calls made.
//
// The batch of step v+1 is made at policy version v:
//
//	MaxStaleness 0   GroupsPerStep complete groups of iteration v, the first to
//	                 be complete; what else is of iteration v or before expires.
//	                 A member sampled at a version above its iteration is of an
//	                 order that was run again behind its step: a replay, which may
//	                 see it before the first, must not take it, nor those that its
//	                 group closed with, whose advantages know of it
//	MaxStaleness > 0 the first GroupsPerStep groups to be complete, of any
//	                 iteration; members sampled at a version below
//	                 v - MaxStaleness leave as dead letters
//
// A group is complete when as many members arrived as its rows tell
// (GroupMembers). It fills its place in the batch even if none of its members
// weighs or all are too old: otherwise a step would wait for groups that nobody
// ordered. With MaxDraws above 1 somebody does: then a group in which nothing
// weighs is consumed by the step without filling a place ([places]).
//
// Invariant: a sample that was kept is in exactly one of: an open or queued
// group, one batch, one Drop.
type Batcher struct {
	groupsPerStep int
	maxStaleness  int64
	places        places
	ledger        *Ledger
	groups        map[string]*group // open and queued
	queue         []*group          // complete, in the order of completion
}

type group struct {
	id                string
	iteration         int64
	members, weighing int32 // as its rows tell; 0 before the first
	rows              map[string]entry
	lost              map[schemas.Position]struct{}
	since             int64 // the version at which the group was first heard of
	queued            bool
}

// strangerSteps is how many steps beyond the staleness bound a group may be known
// by records alone that could not be read. Then nothing will come of it: the
// records were strangers on the topic, or all that there was of it.
const strangerSteps = 8

type entry struct {
	sample   schemas.Sample
	source   schemas.Position
	unusable string // why it cannot be trained on, empty if it can
}

// Drop is a sample that leaves as a dead letter.
type Drop struct {
	Sample  schemas.Sample
	Source  schemas.Position
	Reason  schemas.Reason
	Message string
}

// Batch is what one step consumes.
type Batch struct {
	// Version is the policy version before the step.
	Version int64
	// Samples enter the step, sorted by ID; those of weight 0 are among them.
	Samples []schemas.Sample
	// Dropped are members of the groups that leave as dead letters, sorted by ID.
	Dropped []Drop
	// Expired belong to no batch any more, since their iteration is over.
	Expired []Drop
	// GroupIDs are the groups consumed, sorted.
	GroupIDs []string
	// Replaced is how many of the groups left their place to another.
	Replaced int
	// sources are the records that need not be read again after the step.
	sources []schemas.Position
}

func newBatcher(groupsPerStep int, maxStaleness int64, maxDraws int, ledger *Ledger) *Batcher {
	return &Batcher{
		groupsPerStep: groupsPerStep, maxStaleness: maxStaleness, ledger: ledger, groups: map[string]*group{},
		places: newPlaces(groupsPerStep, maxDraws),
	}
}

// Add gives a sample to its group. It returns whether the sample is kept, and
// the samples that leave instead; one that is neither kept nor among them is a
// repetition, and needs no answer. unusable says why the sample cannot be
// trained on, if it cannot: it then only fills its place in the group. newest is the
// newest version that sampled a member of those that its group closed with.
func (b *Batcher) Add(s schemas.Sample, source schemas.Position, unusable string, newest int64) (kept bool, drops []Drop) {
	version := b.ledger.Step()
	if _, done := b.ledger.Sample(s.ID); done {
		return false, nil
	}
	if step, done := b.ledger.Group(s.GroupID); done {
		return false, []Drop{{s, source, schemas.Late, fmt.Sprintf("group %q was consumed by step %d without it", s.GroupID, step)}}
	}
	if b.maxStaleness == 0 && s.Iteration < version {
		return false, []Drop{expired(s, source, version)}
	}
	if b.maxStaleness == 0 && newest > s.Iteration {
		return false, []Drop{{s, source, schemas.Duplicate, fmt.Sprintf("group sampled at version %d for iteration %d, whose order was run again", newest, s.Iteration)}}
	}
	g := b.groups[s.GroupID]
	if g == nil {
		g = b.open(s.GroupID)
	}
	if old, twice := g.rows[s.ID]; twice && g.sameClosing(&s) {
		if sameSample(&old.sample, &s) {
			return false, nil
		}
		return false, []Drop{{s, source, schemas.Duplicate, "another sample came first under this id"}}
	}
	if len(g.rows) > 0 && !g.sameClosing(&s) {
		drops = b.reopen(g)
	}
	g.iteration, g.members, g.weighing = s.Iteration, s.GroupMembers, s.GroupWeighing
	g.rows[s.ID] = entry{s, source, unusable}
	b.settle(g)
	return true, drops
}

func (b *Batcher) open(id string) *group {
	g := &group{id: id, rows: map[string]entry{}, lost: map[schemas.Position]struct{}{}, since: b.ledger.Step()}
	b.groups[id] = g
	return g
}

// Lose tells that a record of a group could not be read. The record fills its
// place in the group. It returns false if the group is consumed already.
func (b *Batcher) Lose(groupID string, source schemas.Position) (kept bool) {
	if _, done := b.ledger.Group(groupID); done {
		return false
	}
	g := b.groups[groupID]
	if g == nil {
		g = b.open(groupID)
	}
	if _, twice := g.lost[source]; twice {
		return false
	}
	g.lost[source] = struct{}{}
	b.settle(g)
	return true
}

// sameClosing tells whether a row left the advantage stage with the others. After
// a crash that stage may close a group a second time, with more members or
// fewer, and other advantages.
func (g *group) sameClosing(s *schemas.Sample) bool {
	return g.members == s.GroupMembers && g.weighing == s.GroupWeighing
}

// reopen forgets a closing of a group that another closing replaces.
func (b *Batcher) reopen(g *group) (drops []Drop) {
	for _, e := range g.sorted() {
		drops = append(drops, Drop{e.sample, e.source, schemas.Duplicate, "its group was closed again with other members"})
	}
	clear(g.rows)
	if g.queued {
		g.queued = false
		b.queue = slices.DeleteFunc(b.queue, func(q *group) bool { return q == g })
	}
	return drops
}

func (b *Batcher) settle(g *group) {
	if !g.queued && g.members > 0 && len(g.rows)+len(g.lost) >= int(g.members) {
		g.queued = true
		b.queue = append(b.queue, g)
	}
}

// Next returns the batch of the next step and forgets it, or false if its groups
// are not complete.
func (b *Batcher) Next() (Batch, bool) {
	batch := Batch{Version: b.ledger.Step()}
	var taken []*group
	after := b.places.clone()
	for _, g := range b.queue {
		if len(taken)-batch.Replaced == b.groupsPerStep {
			break
		}
		if b.maxStaleness == 0 && g.iteration != batch.Version {
			continue
		}
		taken = append(taken, g)
		if !after.take(g) {
			batch.Replaced++
		}
	}
	if len(taken)-batch.Replaced < b.groupsPerStep {
		return Batch{}, false
	}
	b.places = after
	for _, g := range taken {
		b.forget(g, &batch)
		batch.GroupIDs = append(batch.GroupIDs, g.id)
		for _, e := range g.sorted() {
			if reason, message := b.refuse(&e, batch.Version); reason != "" {
				batch.Dropped = append(batch.Dropped, Drop{e.sample, e.source, reason, message})
			} else {
				batch.Samples = append(batch.Samples, e.sample)
			}
		}
	}
	if b.maxStaleness == 0 {
		b.expire(&batch)
	}
	b.forgetStrangers(&batch)
	slices.Sort(batch.GroupIDs)
	slices.SortFunc(batch.Samples, func(x, y schemas.Sample) int { return cmp.Compare(x.ID, y.ID) })
	slices.SortFunc(batch.Dropped, byID)
	slices.SortFunc(batch.Expired, byID)
	return batch, true
}

// Replaced is, for each iteration that has not filled its places, how many groups
// have to be ordered for it in place of others.
func (b *Batcher) Replaced() map[int64]int { return b.places.replaced(b.queue) }

func byID(x, y Drop) int { return cmp.Compare(x.Sample.ID, y.Sample.ID) }

// refuse says why a member of a batch is not trained on; an empty reason accepts.
func (b *Batcher) refuse(e *entry, version int64) (schemas.Reason, string) {
	if e.unusable != "" {
		return schemas.Invalid, e.unusable
	}
	if age := staleness(&e.sample, version); age > b.maxStaleness {
		return schemas.Stale, fmt.Sprintf("sampled %d versions before version %d, at most %d are allowed", age, version, b.maxStaleness)
	}
	return "", ""
}

// expire drops the groups of iterations that are over with this batch.
func (b *Batcher) expire(batch *Batch) {
	for _, g := range b.groups {
		if g.members == 0 || g.iteration > batch.Version {
			continue
		}
		b.forget(g, batch)
		for _, e := range g.sorted() {
			batch.Expired = append(batch.Expired, expired(e.sample, e.source, batch.Version+1))
		}
	}
}

// forgetStrangers lets go of records that could not be read and have become part
// of nothing. As long as they are held, a restart reads again from the first of
// them on, and the run only grows.
func (b *Batcher) forgetStrangers(batch *Batch) {
	for _, g := range b.groups {
		if g.members == 0 && batch.Version-g.since >= b.maxStaleness+strangerSteps {
			b.forget(g, batch)
		}
	}
}

func expired(s schemas.Sample, source schemas.Position, version int64) Drop {
	return Drop{s, source, schemas.Stale, fmt.Sprintf("iteration %d is over at version %d, and no staleness is allowed", s.Iteration, version)}
}

// forget takes a group out and notes its records as finished.
func (b *Batcher) forget(g *group, batch *Batch) {
	delete(b.groups, g.id)
	b.queue = slices.DeleteFunc(b.queue, func(q *group) bool { return q == g })
	for _, e := range g.rows {
		batch.sources = append(batch.sources, e.source)
	}
	for source := range g.lost {
		batch.sources = append(batch.sources, source)
	}
}

// sorted returns the rows by id.
func (g *group) sorted() []entry {
	out := make([]entry, 0, len(g.rows))
	for _, e := range g.rows {
		out = append(out, e)
	}
	slices.SortFunc(out, func(x, y entry) int { return cmp.Compare(x.sample.ID, y.sample.ID) })
	return out
}

// staleness is how many versions ago the oldest sampled token was sampled, 0 if
// none was.
func staleness(s *schemas.Sample, version int64) int64 {
	age := int64(0)
	for i, m := range s.LossMask {
		if m {
			age = max(age, version-int64(s.Versions[i]))
		}
	}
	return age
}

// newestOf is the newest version that a token was sampled at, -1 if none was.
func newestOf(s *schemas.Sample) int64 {
	version := int64(-1)
	for i, m := range s.LossMask {
		if m {
			version = max(version, int64(s.Versions[i]))
		}
	}
	return version
}

// sameSample compares all that training and metrics use.
func sameSample(x, y *schemas.Sample) bool {
	return x.GroupID == y.GroupID && x.Iteration == y.Iteration && x.Reward == y.Reward &&
		x.Advantage == y.Advantage && x.Weight == y.Weight && x.Excluded == y.Excluded &&
		x.Termination == y.Termination && x.Turns == y.Turns &&
		slices.Equal(x.Tokens, y.Tokens) && slices.Equal(x.LossMask, y.LossMask) &&
		slices.Equal(x.LogProbs, y.LogProbs) && slices.Equal(x.Versions, y.Versions)
}
