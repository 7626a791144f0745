package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"millrace/schemas"
)

// Balance is what entered a stage and what became of it (invariant 6: nothing
// vanishes). It balances when In = Out + Dead + Pending and Problems is empty.
type Balance struct {
	Stage string
	// In are the records read, Out those that left as outputs, Dead those that left
	// as dead letters instead, and Pending those behind the position to which the
	// stage has committed: a restart reads them. In the rollout stage they are
	// rollouts; tombstones are in Out, since they leave as outputs too.
	In, Out, Dead, Pending int
	// Problems name what does not balance, the first in the order of the log first.
	Problems []string
}

// entry is a record that a stage has read: its id, or none where it cannot be
// decoded.
type entry struct {
	id     string
	source schemas.Position
}

// carriedSteps is how many of the last steps may be missing on the ledger topic:
// a learner that was killed behind a commit writes them again when it resumes.
const carriedSteps = 8

// Audit balances every stage of the run, upstream first, and then the ledger itself: steps
// without a gap, and each sample in exactly one (invariant 2).
func (l *Log) Audit() []Balance {
	var orders []entry
	for id, o := range l.orders {
		for i := range o.rollouts {
			orders = append(orders, entry{schemas.RolloutID(id, i), o.source})
		}
	}
	rolledOut := map[string]bool{}
	for _, t := range l.trajectories {
		rolledOut[schemas.RolloutID(t.group, t.rollout)] = true
	}
	consumed, dropped := map[string]bool{}, map[string]bool{}
	for _, u := range l.updates {
		for _, id := range u.SampleIDs {
			consumed[id] = true
		}
		for _, id := range u.DroppedIDs {
			dropped[id] = true
		}
	}
	rollout := l.balance(rolloutStage, orders, rolledOut, nil)
	rollout.Problems = append(rollout.Problems, l.silentTombstones()...)
	balances := []Balance{
		rollout,
		l.balance(scoreStage, entries(l.trajectories, func(t trajectory) schemas.Position { return t.source }), ids(l.rewarded), nil),
		l.balance(advantageStage, entries(l.rewarded, func(r rewarded) schemas.Position { return r.source }), ids(l.samples), nil),
		l.balance(learnStage, entries(l.samples, func(s sample) schemas.Position { return s.source }), consumed, dropped),
		l.steps(),
	}
	return slices.DeleteFunc(balances, func(b Balance) bool { return l.elsewhere[b.Stage] })
}

func ids[V any](m map[string]V) map[string]bool {
	out := make(map[string]bool, len(m))
	for id := range m {
		out[id] = true
	}
	return out
}

func entries[V any](m map[string]V, source func(V) schemas.Position) []entry {
	out := make([]entry, 0, len(m))
	for id, v := range m {
		out = append(out, entry{id, source(v)})
	}
	return out
}

// balance follows each record of a stage to where it went.
func (l *Log) balance(stage string, in []entry, out, dropped map[string]bool) Balance {
	b := Balance{Stage: stage}
	dead, buried := map[string]bool{}, map[schemas.Position]bool{}
	for _, d := range l.letters {
		if d.Stage == stage {
			dead[d.RecordID] = true
			buried[d.Source] = true
		}
	}
	known := make(map[string]bool, len(in))
	for _, source := range l.broken[stage] {
		in = append(in, entry{"", source})
	}
	slices.SortFunc(in, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.source.Partition, y.source.Partition), cmp.Compare(x.source.Offset, y.source.Offset), cmp.Compare(x.id, y.id))
	})
	for _, e := range in {
		b.In++
		known[e.id] = true
		switch {
		case e.id != "" && out[e.id]:
			b.Out++
		case e.id != "" && (dead[e.id] || dropped[e.id]), e.id == "" && buried[e.source]:
			b.Dead++
		case e.source.Offset >= l.committed[stage][e.source.Partition]:
			b.Pending++
		case e.id == "":
			b.Problems = append(b.Problems, fmt.Sprintf("lost the record at %s, which cannot be decoded", at(e.source)))
		default:
			b.Problems = append(b.Problems, fmt.Sprintf("lost %s, read at %s", e.id, at(e.source)))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(out)) {
		if !known[id] {
			b.Problems = append(b.Problems, fmt.Sprintf("made %s of nothing that it has read", id))
		}
	}
	return b
}

// silentTombstones are rollouts that were given up without a dead letter.
func (l *Log) silentTombstones() []string {
	told := map[string]bool{}
	for _, d := range l.letters {
		if d.Stage == rolloutStage {
			told[d.RecordID] = true
		}
	}
	var problems []string
	for _, id := range slices.Sorted(maps.Keys(l.trajectories)) {
		t := l.trajectories[id]
		o := l.orders[t.group].source
		if t.termination == schemas.Failed && !told[id] && o.Offset < l.committed[rolloutStage][o.Partition] {
			problems = append(problems, fmt.Sprintf("gave up %s without a dead letter", id))
		}
	}
	return problems
}

// steps balances the ledger: its steps, and those published.
func (l *Log) steps() Balance {
	b := Balance{Stage: "ledger"}
	seen := map[string]int64{}
	last := int64(0)
	for _, u := range l.updates {
		if u.Step != last+1 {
			b.Problems = append(b.Problems, fmt.Sprintf("holds step %d behind step %d", u.Step, last))
		}
		last = u.Step
		for _, id := range u.SampleIDs {
			if step, twice := seen[id]; twice {
				b.Problems = append(b.Problems, fmt.Sprintf("holds sample %s in step %d and in step %d", id, step, u.Step))
			}
			seen[id] = u.Step
		}
	}
	for _, u := range l.updates {
		b.In++
		switch {
		case l.published[u.Step]:
			b.Out++
		case u.Step > last-carriedSteps:
			b.Pending++
		default:
			b.Problems = append(b.Problems, fmt.Sprintf("step %d is not on the ledger topic", u.Step))
		}
	}
	return b
}

// at is a position in words.
func at(p schemas.Position) string { return fmt.Sprintf("%s[%d]@%d", p.Topic, p.Partition, p.Offset) }
