package advantage

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
)

// openDrafts are the drafts of a bucket's open groups during one call of Beam's: those
// in the state and those that have joined since. A group that is complete with the
// members of one call never enters the state.
//
// The state is read once at most and written at the end: in Beam 2.77 a bag that was
// read and cleared reads the second time as if it had not been cleared.
type openDrafts struct {
	bag    state.Bag[[]byte]
	state  state.Provider
	joined []draft
	read   bool
	kept   [][]byte // what the state has of groups that are still open, if it was read
}

// take removes the n drafts of a group.
func (o *openDrafts) take(id string, n int) (own []draft, err error) {
	o.joined = slices.DeleteFunc(o.joined, func(d draft) bool {
		if d.GroupID == id {
			own = append(own, d)
		}
		return d.GroupID == id
	})
	if len(own) == n {
		return own, nil
	}
	if !o.read {
		if o.kept, _, err = o.bag.Read(o.state); err != nil {
			return nil, fmt.Errorf("reading the members of group %s: %w", id, err)
		}
		o.read = true
	}
	o.kept = slices.DeleteFunc(o.kept, func(b []byte) bool {
		label := cut{rest: b}
		if string(label.bytes(label.number(math.MaxInt32))) != id {
			return false
		}
		d, broken := decodeDraft(label.rest)
		if broken != nil {
			err = fmt.Errorf("reading a member of group %s: %w", id, broken)
		}
		own = append(own, d)
		return true
	})
	if err == nil && len(own) != n {
		err = fmt.Errorf("group %s has %d members and the state %d of them", id, n, len(own))
	}
	return own, err
}

// store brings the state up to date.
func (o *openDrafts) store() error {
	if o.read {
		if err := o.bag.Clear(o.state); err != nil {
			return fmt.Errorf("clearing the members that have left: %w", err)
		}
		for _, b := range o.kept {
			if err := o.bag.Add(o.state, b); err != nil {
				return fmt.Errorf("keeping the members of other groups: %w", err)
			}
		}
	}
	for _, d := range o.joined {
		encoded, err := d.encode()
		if err == nil {
			err = o.bag.Add(o.state, labelled(d.GroupID, encoded))
		}
		if err != nil {
			return fmt.Errorf("keeping %s in group %s: %w", d.ID, d.GroupID, err)
		}
	}
	return nil
}

// labelled is an encoded draft behind the id of its group.
func labelled(id string, draft []byte) []byte {
	b := make([]byte, 0, binary.MaxVarintLen32+len(id)+len(draft))
	b = append(binary.AppendUvarint(b, uint64(len(id))), id...)
	return append(b, draft...)
}
