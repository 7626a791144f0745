package advantage

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"millrace/schemas"
)

func init() {
	register.DoFn3x0[beam.EventTime, schemas.Member, func(beam.EventTime, int64, Arrivals)](&gatherFn{})
	register.Emitter3[beam.EventTime, int64, Arrivals]()
	beam.RegisterCoder(reflect.TypeFor[Arrivals](), encodeArrivals, decodeArrivals)
}

// Arrivals are the members of one bucket that came in one bundle, in the order in
// which they came. They are offered together, because a runner asks the same for each
// element: to take it across, to read and to write the state of its key.
type Arrivals struct{ Members []schemas.Member }

func encodeArrivals(a Arrivals) ([]byte, error) { return schemas.EncodeMembers(a.Members...) }

func decodeArrivals(b []byte) (Arrivals, error) {
	members, err := schemas.DecodeMembers(b)
	return Arrivals{members}, err
}

// gatherFn keys members by bucket, those of a bundle together. It holds a bundle's
// members, so what bounds a bundle bounds it.
type gatherFn struct {
	latest  beam.EventTime
	buckets []int64 // by the arrival of their first member
	arrived map[int64][]schemas.Member
}

// StartBundle begins without members.
func (fn *gatherFn) StartBundle(func(beam.EventTime, int64, Arrivals)) {
	fn.latest, fn.buckets, fn.arrived = 0, fn.buckets[:0], map[int64][]schemas.Member{}
}

// ProcessElement keeps a member.
func (fn *gatherFn) ProcessElement(at beam.EventTime, m schemas.Member, _ func(beam.EventTime, int64, Arrivals)) {
	fn.latest = max(fn.latest, at)
	key := bucketOf(m.Reward.Trajectory.GroupID)
	if fn.arrived[key] == nil {
		fn.buckets = append(fn.buckets, key)
	}
	fn.arrived[key] = append(fn.arrived[key], m)
}

// FinishBundle hands them on.
func (fn *gatherFn) FinishBundle(emit func(beam.EventTime, int64, Arrivals)) {
	for _, key := range fn.buckets {
		emit(fn.latest, key, Arrivals{fn.arrived[key]})
	}
	fn.arrived = nil
}
