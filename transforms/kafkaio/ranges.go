package kafkaio

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
)

// ranges are the methods that both splittable DoFns share: the restriction is a
// partition's range of offsets, and it is never split, since its reader has one
// position.
type ranges struct{}

func (ranges) CreateInitialRestriction(at partition) offsetrange.Restriction {
	return offsetrange.Restriction{Start: at.Start, End: at.End}
}

func (ranges) SplitRestriction(_ partition, rest offsetrange.Restriction) []offsetrange.Restriction {
	return []offsetrange.Restriction{rest}
}

func (ranges) RestrictionSize(_ partition, rest offsetrange.Restriction) float64 {
	_, remaining := newTracker(rest).GetProgress()
	return remaining
}

func (ranges) CreateTracker(rest offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(newTracker(rest))
}

// TruncateRestriction drops what is left when a runner drains: the next run
// reads it from the committed position.
func (ranges) TruncateRestriction(rt *sdf.LockRTracker, _ partition) offsetrange.Restriction {
	start := rt.GetRestriction().(offsetrange.Restriction).Start
	return offsetrange.Restriction{Start: start, End: start}
}

func (ranges) InitialWatermarkEstimatorState(et beam.EventTime, _ offsetrange.Restriction, _ partition) int64 {
	return et.Milliseconds()
}

func (ranges) CreateWatermarkEstimator(ms int64) *wallClock { return &wallClock{ms: ms} }

func (ranges) WatermarkEstimatorState(w *wallClock) int64 { return w.ms }

// tracker is an offset range that a runner may checkpoint but not divide.
type tracker struct {
	*offsetrange.Tracker
	end int64
}

func newTracker(rest offsetrange.Restriction) *tracker {
	return &tracker{Tracker: offsetrange.NewTracker(rest), end: rest.End}
}

// TrySplit splits at 0 (a checkpoint: what is not claimed is the residual) and
// refuses every other fraction. Two halves of a partition would be two readers
// with two positions but one committed offset.
func (t *tracker) TrySplit(fraction float64) (primary, residual any, err error) {
	if fraction > 0 {
		return t.GetRestriction(), nil, nil
	}
	return t.Tracker.TrySplit(0)
}

// GetProgress reports one unit of remaining work for an endless range, in which
// the true number would drown all others.
func (t *tracker) GetProgress() (done, remaining float64) {
	done, remaining = t.Tracker.GetProgress()
	if t.end == unbounded {
		remaining = 1
	}
	return done, remaining
}

// IsBounded is false for a range without end.
func (t *tracker) IsBounded() bool { return t.end != unbounded }
