package advantage

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"

	"millrace/schemas"
)

type ctx = context.Context

// now is the wall clock; tests put their own in its place.
var now = time.Now

// groupFn moves data between Beam and Group. It uses what every portable runner
// offers: a bag, a value, and one family of event-time timers.
//
// A group's timer has two lives: while the group is open it is its time limit,
// and then the end of its memory.
type groupFn struct {
	Config Config
	// Memory is the JSON of a memory.
	Memory state.Value[[]byte]
	// Drafts are the encoded drafts of an open group.
	Drafts state.Bag[[]byte]
	Timer  timers.EventTime
}

// memory is what is kept of a group beside its drafts.
type memory struct {
	Group
	// Due is when the timer fires, in Unix milliseconds.
	Due int64
}

func newGroupFn(c Config) *groupFn {
	return &groupFn{
		Config: c,
		Memory: state.MakeValueState[[]byte]("memory"),
		Drafts: state.MakeBagState[[]byte]("drafts"),
		Timer:  timers.InEventTime("due"),
	}
}

// ProcessElement offers one member to its group. An error is about the runner's
// state, never about the member.
func (fn *groupFn) ProcessElement(c ctx, sp state.Provider, tp timers.Provider, key string, m schemas.Member, emit func(Closed)) error {
	countMembers.Inc(c, 1)
	refuse := func(reason schemas.Reason, message string) {
		countRefused.Inc(c, 1)
		letter := letterOf(m, reason, message)
		letter.Time = now().UnixMicro()
		emit(Closed{DeadLetters: []schemas.DeadLetter{letter}, Sources: []schemas.Position{m.Source}})
	}
	d, err := newDraft(m)
	if err != nil {
		refuse(schemas.ReasonOf(err), err.Error())
		return nil
	}
	encoded, digest, err := d.encode()
	if err != nil {
		refuse(schemas.ReasonOf(err), err.Error())
		return nil
	}
	mem, err := fn.recall(sp, key)
	if err != nil {
		return err
	}
	switch v := mem.Add(Entry{d.Rollout, digest}, d.GroupSize); v {
	case Joined:
		if len(mem.Entries) == 1 {
			fn.schedule(tp, &mem, fn.Config.CloseAfter)
		}
		if err := fn.Drafts.Add(sp, encoded); err != nil {
			return fmt.Errorf("keeping %s in group %s: %w", d.ID, key, err)
		}
		return fn.remember(sp, key, mem)
	case Completed:
		return fn.leave(c, sp, tp, key, mem, []draft{d}, emit)
	case Repeat:
		countRepeats.Inc(c, 1)
		emit(Closed{Sources: []schemas.Position{m.Source}})
	case Conflict:
		refuse(schemas.Duplicate, fmt.Sprintf("trajectory %s: rollout %d of group %s already has another record", d.ID, d.Rollout, key))
	case Late:
		refuse(schemas.Late, fmt.Sprintf("trajectory %s: group %s was closed with %d of %d members", d.ID, key, len(mem.Entries), mem.Size))
	case Misfit:
		refuse(schemas.Invalid, fmt.Sprintf("trajectory %s says that group %s has %d members, its first said %d", d.ID, key, d.GroupSize, mem.Size))
	default:
		return fmt.Errorf("group %s: no rule for verdict %v", key, v)
	}
	return nil
}

// OnTimer ends the time limit of an open group, or the memory of a closed one.
// It has no way to return an error, so a broken state fails the bundle.
func (fn *groupFn) OnTimer(c ctx, at beam.EventTime, sp state.Provider, tp timers.Provider, key string, _ timers.Context, emit func(Closed)) {
	mem, err := fn.recall(sp, key)
	if err != nil {
		panic(err)
	}
	if int64(mtime.Time(at)) < mem.Due {
		return // it was set again since
	}
	// Before its time a timer fires only because the input ended.
	ended := now().UnixMilli() < mem.Due
	switch {
	case mem.Closed || len(mem.Entries) == 0:
		err = fn.forget(sp, key)
	case ended && !fn.Config.CloseAtEnd:
		countLeftOpen.Inc(c, int64(len(mem.Entries)))
		err = fn.forget(sp, key)
	case mem.Close():
		countShort.Inc(c, 1)
		err = fn.leave(c, sp, tp, key, mem, nil, emit)
	}
	if err != nil {
		panic(err)
	}
}

// leave emits a closed group, whose drafts are those kept and those given.
func (fn *groupFn) leave(c ctx, sp state.Provider, tp timers.Provider, key string, mem memory, drafts []draft, emit func(Closed)) error {
	kept, _, err := fn.Drafts.Read(sp)
	if err != nil {
		return fmt.Errorf("reading the members of group %s: %w", key, err)
	}
	for _, b := range kept {
		d, err := decodeDraft(b)
		if err != nil {
			return fmt.Errorf("reading a member of group %s: %w", key, err)
		}
		drafts = append(drafts, d)
	}
	samples, letters := settle(fn.Config, drafts)
	for i := range letters {
		letters[i].Time = now().UnixMicro()
	}
	sources := make([]schemas.Position, len(drafts))
	for i, d := range drafts {
		sources[i] = d.source
	}
	countGroups.Inc(c, 1)
	countSamples.Inc(c, int64(len(samples)))
	countNotFinite.Inc(c, int64(len(letters)))
	emit(Closed{Samples: samples, DeadLetters: letters, Sources: sources})
	if err := fn.Drafts.Clear(sp); err != nil {
		return fmt.Errorf("clearing the members of group %s: %w", key, err)
	}
	fn.schedule(tp, &mem, fn.Config.RememberFor)
	return fn.remember(sp, key, mem)
}

// schedule sets the group's one timer, in place of what it was.
func (fn *groupFn) schedule(tp timers.Provider, mem *memory, after time.Duration) {
	due := now().Add(after)
	mem.Due = due.UnixMilli()
	fn.Timer.Set(tp, due)
}

func (fn *groupFn) recall(sp state.Provider, key string) (memory, error) {
	var mem memory
	b, ok, err := fn.Memory.Read(sp)
	if err != nil {
		return mem, fmt.Errorf("reading the state of group %s: %w", key, err)
	}
	if !ok {
		return mem, nil
	}
	if err := json.Unmarshal(b, &mem); err != nil {
		return mem, fmt.Errorf("reading the state of group %s: %w", key, err)
	}
	return mem, nil
}

func (fn *groupFn) remember(sp state.Provider, key string, mem memory) error {
	b, err := json.Marshal(mem)
	if err == nil {
		err = fn.Memory.Write(sp, b)
	}
	if err != nil {
		return fmt.Errorf("writing the state of group %s: %w", key, err)
	}
	return nil
}

func (fn *groupFn) forget(sp state.Provider, key string) error {
	if err := fn.Drafts.Clear(sp); err != nil {
		return fmt.Errorf("clearing the members of group %s: %w", key, err)
	}
	if err := fn.Memory.Clear(sp); err != nil {
		return fmt.Errorf("clearing the state of group %s: %w", key, err)
	}
	return nil
}
