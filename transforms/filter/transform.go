package filter

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"millrace/schemas"
)

func init() {
	register.DoFn3x0[context.Context, schemas.Member, func(schemas.Member)](&filterFn{})
	register.Emitter1[schemas.Member]()
}

// Filter sets Excluded and Counts of every member of a
// PCollection<schemas.Member> and returns a PCollection<schemas.Member> with
// the same members. Nothing in it can fail, so there are no dead letters.
//
// It panics at construction if the config is invalid.
func Filter(s beam.Scope, c Config, members beam.PCollection) beam.PCollection {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	s = s.Scope("filter.Filter")
	return beam.ParDo(s, &filterFn{Config: c}, members)
}

type filterFn struct {
	// Config is part of the serialised plan.
	Config Config
}

var (
	kept   = beam.NewCounter("filter", "kept")
	masked = beam.NewCounter("filter", "excluded")
)

func (fn *filterFn) ProcessElement(ctx context.Context, m schemas.Member, emit func(schemas.Member)) {
	m.Excluded, m.Counts = Decide(fn.Config, m.Reward)
	if m.Excluded == "" {
		kept.Inc(ctx, 1)
	} else {
		masked.Inc(ctx, 1)
	}
	emit(m)
}
