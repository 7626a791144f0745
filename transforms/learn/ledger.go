package learn

import (
	"fmt"

	"millrace/schemas"
)

// Ledger is the index over all updates: which step a sample or group went to.
type Ledger struct {
	step    int64
	samples map[string]int64
	groups  map[string]int64
	// consumed counts the samples that entered a step.
	consumed int64
}

func newLedger() *Ledger {
	return &Ledger{samples: map[string]int64{}, groups: map[string]int64{}}
}

// Sample returns the step that consumed or dropped a sample.
func (l *Ledger) Sample(id string) (step int64, ok bool) {
	step, ok = l.samples[id]
	return step, ok
}

// Group returns the step that consumed a group.
func (l *Ledger) Group(id string) (step int64, ok bool) {
	step, ok = l.groups[id]
	return step, ok
}

// Step is the last step.
func (l *Ledger) Step() int64 { return l.step }

// Consumed is the number of samples that entered a step.
func (l *Ledger) Consumed() int64 { return l.consumed }

// add appends the next update. Steps follow one another, and a sample or group
// that is there already is an error (invariant 2).
func (l *Ledger) add(u schemas.Update) error {
	if u.Step != l.step+1 {
		return fmt.Errorf("ledger holds step %d behind step %d", u.Step, l.step)
	}
	for _, ids := range [][]string{u.SampleIDs, u.DroppedIDs} {
		for _, id := range ids {
			if step, twice := l.samples[id]; twice {
				return fmt.Errorf("ledger holds sample %q in step %d and in step %d", id, step, u.Step)
			}
			l.samples[id] = u.Step
		}
	}
	for _, id := range u.GroupIDs {
		if step, twice := l.groups[id]; twice {
			return fmt.Errorf("ledger holds group %q in step %d and in step %d", id, step, u.Step)
		}
		l.groups[id] = u.Step
	}
	l.step = u.Step
	l.consumed += int64(len(u.SampleIDs))
	return nil
}
