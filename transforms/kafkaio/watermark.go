package kafkaio

import (
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
)

// wallClock is a watermark that follows the clock of the machine, also when
// nothing is read, so that event-time timers downstream act as time limits.
// Elements carry the time at which they were emitted, never a broker's
// timestamp, so none is ever late, however old the record.
type wallClock struct {
	ms int64 // Unix time in milliseconds; never decreases
}

// advance moves the watermark to t unless it is already there: a clock set back
// holds the watermark still.
func (w *wallClock) advance(t time.Time) { w.ms = max(w.ms, t.UnixMilli()) }

// now is the event time of elements emitted after advance.
func (w *wallClock) now() beam.EventTime { return mtime.FromMilliseconds(w.ms) }

// CurrentWatermark is called by Beam.
func (w *wallClock) CurrentWatermark() time.Time { return time.UnixMilli(w.ms) }
