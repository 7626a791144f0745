package advantage

import (
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"

	"millrace/schemas"
)

// offering is members that are offered to the groups of a bucket together.
type offering struct {
	fn     *groupFn
	state  state.Provider
	bucket *bucket
	emit   func(Closed)

	// joined are the drafts of open groups that the state does not have yet, in the
	// order of arrival: a group that is complete at once never has any there.
	joined []joined
	// changed says that the bucket has.
	changed bool
}

type joined struct {
	draft   draft
	encoded []byte
}

// offer offers a member to its group.
func (o *offering) offer(c ctx, m schemas.Member) error {
	countMembers.Inc(c, 1)
	refuse := func(reason schemas.Reason, message string) {
		countRefused.Inc(c, 1)
		letter := letterOf(m, reason, message)
		letter.Time = now().UnixMicro()
		o.emit(Closed{DeadLetters: []schemas.DeadLetter{letter}, Sources: []schemas.Position{m.Source}})
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
	group := entry{ID: d.GroupID}
	if i := o.bucket.index(d.GroupID); i >= 0 {
		group = o.bucket.groups[i]
	}
	switch v := group.Add(Entry{d.Rollout, digest}, d.GroupSize); v {
	case Joined:
		if len(group.Entries) == 1 {
			group.Due = now().Add(o.fn.Config.CloseAfter).UnixMilli()
		}
		o.joined = append(o.joined, joined{d, encoded})
	case Completed:
		drafts := append(o.take(group.ID), d)
		if len(drafts) < len(group.Entries) {
			kept, err := o.fn.drafts(o.state, group.ID)
			if err != nil {
				return err
			}
			drafts = append(kept, drafts...)
		}
		o.fn.leave(c, &group, drafts, o.emit)
	case Repeat:
		countRepeats.Inc(c, 1)
		o.emit(Closed{Sources: []schemas.Position{m.Source}})
		return nil
	case Conflict, Late, Misfit:
		refuse(group.refusal(v, &d))
		return nil
	default:
		return fmt.Errorf("group %s: no rule for verdict %v", group.ID, v)
	}
	o.bucket.put(group)
	o.changed = true
	return nil
}

// take removes the drafts of a group that have joined.
func (o *offering) take(id string) (drafts []draft) {
	o.joined = slices.DeleteFunc(o.joined, func(j joined) bool {
		own := j.draft.GroupID == id
		if own {
			drafts = append(drafts, j.draft)
		}
		return own
	})
	return drafts
}

// keep puts the drafts that have joined into the state.
func (o *offering) keep() error {
	for _, j := range o.joined {
		if err := o.fn.Drafts.Add(o.state, labelled(j.draft.GroupID, j.encoded)); err != nil {
			return fmt.Errorf("keeping %s in group %s: %w", j.draft.ID, j.draft.GroupID, err)
		}
	}
	return nil
}
