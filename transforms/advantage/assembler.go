package advantage

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/cespare/xxhash/v2"

	"millrace/schemas"
)

// Assembler assembles the groups of an input that ends, in memory and in the
// order of the calls. It decides as the streaming transform does; only a group's
// time limit is not its own: whoever feeds it says when no more will come.
//
// It holds the members of open groups (about 13 bytes a token) and of each closed
// group some 40 bytes a member, to know repeats by.
//
// Invariant: a member that was added left in one Closed, is held in one open
// group, or was a repeat, whose Closed has a source alone.
type Assembler struct {
	config Config
	groups map[string]*assembly
	order  []string // groups by the arrival of their first member
}

// assembly is a group with its drafts, which are gone when it has closed.
type assembly struct {
	Group
	drafts []draft
}

// NewAssembler returns an assembler without groups. Of the config it uses what
// decides over a group that has closed, and no time.
func NewAssembler(c Config) (*Assembler, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Assembler{config: c, groups: map[string]*assembly{}}, nil
}

// Add offers a member that passed the filter to its group. It returns what leaves
// with it, if anything does: the whole group, or the member alone because it is
// refused or was there before.
func (a *Assembler) Add(m schemas.Member) (Closed, bool) {
	alone := Closed{Sources: []schemas.Position{m.Source}}
	refuse := func(reason schemas.Reason, message string) (Closed, bool) {
		alone.DeadLetters = []schemas.DeadLetter{letterOf(m, reason, message)}
		return alone, true
	}
	d, err := newDraft(m)
	if err != nil {
		return refuse(schemas.ReasonOf(err), err.Error())
	}
	digest, err := d.digest()
	if err != nil {
		return refuse(schemas.Invalid, err.Error())
	}
	g := a.groups[d.GroupID]
	if g == nil {
		g = &assembly{}
		a.groups[d.GroupID] = g
		a.order = append(a.order, d.GroupID)
	}
	switch v := g.Add(Entry{d.Rollout, digest}, d.GroupSize); v {
	case Joined:
		g.drafts = append(g.drafts, d)
		return Closed{}, false
	case Completed:
		g.drafts = append(g.drafts, d)
		return g.leave(a.config), true
	case Repeat:
		return alone, true
	default:
		return refuse(g.refusal(v, &d))
	}
}

// End closes the groups that are open, with the members they have, in the order in
// which their first members came.
func (a *Assembler) End() []Closed {
	var out []Closed
	for _, id := range a.order {
		if g := a.groups[id]; g.Close() {
			out = append(out, g.leave(a.config))
		}
	}
	a.order = nil
	return out
}

func (g *assembly) leave(c Config) Closed {
	var closed Closed
	closed.Samples, closed.DeadLetters = settle(c, g.drafts)
	for _, d := range g.drafts {
		closed.Sources = append(closed.Sources, d.source)
	}
	g.drafts = nil
	return closed
}

// digest identifies all of the draft but its source.
func (d *draft) digest() (uint64, error) { return digestOf(d.Sample, d.notFinite) }

// Digest identifies a sample by all that it holds, its advantage included: two that
// have one digest are equal to the bit.
func Digest(s schemas.Sample) (uint64, error) { return digestOf(s, "") }

// digestOf does not read the mask: in a valid sample it is true where a version is 0
// or more.
func digestOf(s schemas.Sample, notFinite string) (uint64, error) {
	tokens, logProbs, versions := s.Tokens, s.LogProbs, s.Versions
	s.Tokens, s.LossMask, s.LogProbs, s.Versions = nil, nil, nil, nil
	head, err := json.Marshal(struct {
		schemas.Sample
		NotFinite string
	}{s, notFinite})
	if err != nil {
		return 0, fmt.Errorf("identifying sample %q: %w", s.ID, err)
	}
	h := xxhash.New()
	_, _ = h.Write(head)
	_, _ = h.Write(arrow.Int32Traits.CastToBytes(tokens))
	_, _ = h.Write(arrow.Float32Traits.CastToBytes(logProbs))
	_, _ = h.Write(arrow.Int32Traits.CastToBytes(versions))
	return h.Sum64(), nil
}
