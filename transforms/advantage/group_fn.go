package advantage

import (
	"context"
	"fmt"
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
// portable runner offers: a bag, a value, and one family of event-time timers. Each
// call to them is a message to the runner and an answer.
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

// ProcessElement offers members to their groups. An error is about the runner's
// state, never about a member.
func (fn *groupFn) ProcessElement(c ctx, sp state.Provider, tp timers.Provider, key int64, a Arrivals, emit func(Closed)) error {
	b, err := fn.recall(sp, key)
	if err != nil {
		return err
	}
	b.forget(now().UnixMilli())
	was, set := b.due()
	drafts := &openDrafts{bag: fn.Drafts, state: sp}
	offering := offering{fn: fn, bucket: &b, drafts: drafts, emit: emit}
	for _, m := range a.Members {
		if err := offering.offer(c, m); err != nil {
			return err
		}
	}
	if !offering.changed {
		return nil
	}
	if err := drafts.store(); err != nil {
		return fmt.Errorf("bucket %d: %w", key, err)
	}
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
	open := &openDrafts{bag: fn.Drafts, state: sp}
	for _, group := range b.take(at) { // none, if the timer was set again since
		drafts, err := open.take(group.ID, len(group.Entries))
		if err != nil {
			return err
		}
		// Before its time a timer fires only because the input ended.
		ended := now().UnixMilli() < group.Due
		switch {
		case ended && !fn.Config.CloseAtEnd:
			countLeftOpen.Inc(c, int64(len(group.Entries)))
		case group.Close():
			countShort.Inc(c, 1)
			fn.leave(c, &group, drafts, emit)
			b.put(group)
		}
	}
	if err := open.store(); err != nil {
		return fmt.Errorf("bucket %d: %w", key, err)
	}
	if due, some := b.due(); some {
		fn.Timer.Set(tp, time.UnixMilli(due))
	}
	return fn.remember(sp, key, b)
}

// leave emits a closed group, whose drafts are given.
func (fn *groupFn) leave(c ctx, group *entry, drafts []draft, emit func(Closed)) {
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
