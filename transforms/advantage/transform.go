package advantage

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/schemas"
)

func init() {
	beam.RegisterFunction(byGroup)
	beam.RegisterDoFn(reflect.TypeFor[groupFn]())
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
	keyed := beam.ParDo(s, byGroup, members)
	return beam.ParDo(s, newGroupFn(c), keyed)
}

func byGroup(m schemas.Member) (string, schemas.Member) { return m.Reward.Trajectory.GroupID, m }
