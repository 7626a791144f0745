package advantage

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"

	"millrace/schemas"
)

type ctx = context.Context

// began is when this process did.
var began = time.Now()

// now is the time by the monotonic clock, as that of the watermark: the wall clock
// as it was when this process began, and what has passed since, so that setting
// the machine's clock closes no group. Tests put their own in its place.
var now = func() time.Time { return began.Add(time.Since(began)) }

// groupFn moves data between Beam and the groups of a bucket. It uses what every
// portable runner offers: a bag, a value, and one family of event-time timers.
//
// Invariant: where a bucket has open groups, its timer is set at the first due;
// where it has none, it is not set. For as long as one is, Prism keeps the bytes
// of elements of that key which were processed long ago (Pop of its elementHeap
// leaves them in place), so the memory of closed groups has no timer: it ends
// when the bucket is touched next.
type groupFn struct {
	Config Config
	// Bucket is an encoded bucket.
	Bucket state.Value[[]byte]
	// Drafts are the encoded drafts of the open groups, each behind its group's id.
	Drafts state.Bag[[]byte]
	Timer  timers.EventTime
}

func newGroupFn(c Config) *groupFn {
	return &groupFn{
		Config: c,
		Bucket: state.MakeValueState[[]byte]("bucket"),
		Drafts: state.MakeBagState[[]byte]("drafts"),
		Timer:  timers.InEventTime("due"),
	}
}

// ProcessElement offers one member to its group. An error is about the runner's
// state, never about the member.
func (fn *groupFn) ProcessElement(c ctx, sp state.Provider, tp timers.Provider, key int64, m schemas.Member, emit func(Closed)) error {
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
	b, err := fn.recall(sp, key)
	if err != nil {
		return err
	}
	b.forget(now().UnixMilli())
	group := entry{ID: d.GroupID}
	if i := b.index(d.GroupID); i >= 0 {
		group = b.groups[i]
	}
	was, set := b.due()
	switch v := group.Add(Entry{d.Rollout, digest}, d.GroupSize); v {
	case Joined:
		if len(group.Entries) == 1 {
			group.Due = now().Add(fn.Config.CloseAfter).UnixMilli()
		}
		if err := fn.Drafts.Add(sp, labelled(group.ID, encoded)); err != nil {
			return fmt.Errorf("keeping %s in group %s: %w", d.ID, group.ID, err)
		}
	case Completed:
		if err := fn.leave(c, sp, &group, []draft{d}, emit); err != nil {
			return err
		}
	case Repeat:
		countRepeats.Inc(c, 1)
		emit(Closed{Sources: []schemas.Position{m.Source}})
		return nil
	case Conflict, Late, Misfit:
		refuse(group.refusal(v, &d))
		return nil
	default:
		return fmt.Errorf("group %s: no rule for verdict %v", group.ID, v)
	}
	b.put(group)
	switch due, some := b.due(); {
	case some && (!set || due != was):
		fn.Timer.Set(tp, time.UnixMilli(due))
	case set && !some:
		fn.Timer.Clear(tp)
	}
	return fn.remember(sp, key, b)
}

// OnTimer ends the time limit of open groups. It has no way to return an error,
// so a broken state fails the bundle.
func (fn *groupFn) OnTimer(c ctx, at beam.EventTime, sp state.Provider, tp timers.Provider, key int64, _ timers.Context, emit func(Closed)) {
	if err := fn.expire(c, int64(mtime.Time(at)), sp, tp, key, emit); err != nil {
		panic(err)
	}
}

func (fn *groupFn) expire(c ctx, at int64, sp state.Provider, tp timers.Provider, key int64, emit func(Closed)) error {
	b, err := fn.recall(sp, key)
	if err != nil {
		return err
	}
	for _, group := range b.take(at) { // none, if the timer was set again since
		// Before its time a timer fires only because the input ended.
		ended := now().UnixMilli() < group.Due
		switch {
		case ended && !fn.Config.CloseAtEnd:
			countLeftOpen.Inc(c, int64(len(group.Entries)))
			if _, err := fn.drafts(sp, group.ID); err != nil {
				return err
			}
		case group.Close():
			countShort.Inc(c, 1)
			if err := fn.leave(c, sp, &group, nil, emit); err != nil {
				return err
			}
			b.put(group)
		}
	}
	if due, some := b.due(); some {
		fn.Timer.Set(tp, time.UnixMilli(due))
	}
	return fn.remember(sp, key, b)
}

// leave emits a closed group, whose drafts are those kept and those given.
func (fn *groupFn) leave(c ctx, sp state.Provider, group *entry, drafts []draft, emit func(Closed)) error {
	kept, err := fn.drafts(sp, group.ID)
	if err != nil {
		return err
	}
	for _, b := range kept {
		d, err := decodeDraft(b)
		if err != nil {
			return fmt.Errorf("reading a member of group %s: %w", group.ID, err)
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
	group.Due = now().Add(fn.Config.RememberFor).UnixMilli()
	return nil
}

// drafts takes the drafts of a group out of its bucket.
func (fn *groupFn) drafts(sp state.Provider, id string) (own [][]byte, err error) {
	all, _, err := fn.Drafts.Read(sp)
	if err != nil {
		return nil, fmt.Errorf("reading the members of group %s: %w", id, err)
	}
	if err := fn.Drafts.Clear(sp); err != nil {
		return nil, fmt.Errorf("clearing the members of group %s: %w", id, err)
	}
	for _, b := range all {
		label := cut{rest: b}
		if string(label.bytes(label.number(math.MaxInt32))) == id {
			own = append(own, label.rest)
		} else if err := fn.Drafts.Add(sp, b); err != nil {
			return nil, fmt.Errorf("keeping a member beside group %s: %w", id, err)
		}
	}
	return own, nil
}

// labelled is an encoded draft behind the id of its group.
func labelled(id string, draft []byte) []byte {
	b := make([]byte, 0, binary.MaxVarintLen32+len(id)+len(draft))
	b = append(binary.AppendUvarint(b, uint64(len(id))), id...)
	return append(b, draft...)
}

func (fn *groupFn) recall(sp state.Provider, key int64) (bucket, error) {
	data, ok, err := fn.Bucket.Read(sp)
	var b bucket
	if err == nil && ok {
		b, err = decodeBucket(data)
	}
	if err != nil {
		return bucket{}, fmt.Errorf("reading bucket %d: %w", key, err)
	}
	return b, nil
}

func (fn *groupFn) remember(sp state.Provider, key int64, b bucket) (err error) {
	if len(b.groups) == 0 {
		err = fn.Bucket.Clear(sp)
	} else {
		err = fn.Bucket.Write(sp, b.encode())
	}
	if err != nil {
		return fmt.Errorf("writing bucket %d: %w", key, err)
	}
	return nil
}
