package advantage

import (
	"fmt"

	"millrace/schemas"
)

// offering is members that are offered to the groups of a bucket together.
type offering struct {
	fn     *groupFn
	bucket *bucket
	drafts *openDrafts
	emit   func(Closed)
	// changed says that the bucket has.
	changed bool
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
	digest, err := d.digest()
	if err != nil {
		refuse(schemas.Invalid, err.Error())
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
		o.drafts.joined = append(o.drafts.joined, d)
	case Completed:
		o.drafts.joined = append(o.drafts.joined, d)
		drafts, err := o.drafts.take(group.ID, len(group.Entries))
		if err != nil {
			return err
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
