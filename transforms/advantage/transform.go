package advantage

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/state"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/timers"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.Emitter1[Closed]()
	register.DoFn6x1[ctx, state.Provider, timers.Provider, int64, Arrivals, func(Closed), error](&groupFn{})
}

// Advantage assembles the groups of a PCollection<schemas.Member> that passed
// the filter and returns a PCollection<Closed>: each group once, when all its
// members arrived or its time limit passed. The input's watermark must follow
// the wall clock, also while nothing arrives, or no time limit ever passes.
//
// It panics at construction if the config is invalid.
func Advantage(s beam.Scope, c Config, members beam.PCollection) beam.PCollection {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	s = s.Scope("advantage.Advantage")
	return beam.ParDo(s, newGroupFn(c), beam.ParDo(s, &gatherFn{}, members))
}
