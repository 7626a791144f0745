package advantage

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"millrace/schemas"
)

func init() {
	register.DoFn3x0[context.Context, schemas.Member, func(Closed)](&bundledFn{})
}

// Bundled is [Advantage] for a bounded input of which each bundle holds its groups
// whole, as one that is read from one element on: PCollection<schemas.Member> ->
// PCollection<Closed>. Members cross no shuffle and no runner's state, so they stay
// pointers. Groups that are open when the bundle ends close with the members that
// they have, whatever CloseAfter and CloseAtEnd say.
//
// It panics at construction if the config is invalid.
func Bundled(s beam.Scope, c Config, members beam.PCollection) beam.PCollection {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	return beam.ParDo(s.Scope("advantage.Bundled"), &bundledFn{Config: c}, members)
}

type bundledFn struct {
	// Config is part of the serialised plan.
	Config    Config
	assembler *Assembler
}

// StartBundle begins without groups.
func (fn *bundledFn) StartBundle(_ func(Closed)) (err error) {
	fn.assembler, err = NewAssembler(fn.Config)
	return err
}

// ProcessElement emits what leaves with the member.
func (fn *bundledFn) ProcessElement(c context.Context, m schemas.Member, emit func(Closed)) {
	countMembers.Inc(c, 1)
	if closed, ok := fn.assembler.Add(m); ok {
		count(c, closed)
		emit(closed)
	}
}

// FinishBundle closes what is open.
func (fn *bundledFn) FinishBundle(c context.Context, emit func(Closed)) {
	for _, closed := range fn.assembler.End() {
		countShort.Inc(c, 1)
		count(c, closed)
		emit(closed)
	}
}

func count(c context.Context, closed Closed) {
	switch {
	case len(closed.Samples) > 0:
		countGroups.Inc(c, 1)
		countSamples.Inc(c, int64(len(closed.Samples)))
		countNotFinite.Inc(c, int64(len(closed.DeadLetters)))
	case len(closed.DeadLetters) > 0:
		countRefused.Inc(c, 1)
	default:
		countRepeats.Inc(c, 1)
	}
}
