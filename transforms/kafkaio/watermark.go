package kafkaio

import (
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/mtime"
)

// wallClock is a watermark that follows the clock, see steady, also when
// nothing is read, so that event-time timers downstream act as time limits.
// Elements carry the time at which they were emitted, never a broker's
// timestamp, so none is ever late, however old the record.
type wallClock struct {
	ms int64 // Unix time in milliseconds; never decreases
}

// began is when this process did.
var began = time.Now()

// steady is the time by the monotonic clock: the wall clock as it was when this
// process began, and what has passed since. Whoever sets the machine's clock, by
// hours even, lets no time limit pass and holds none back.
func steady() time.Time { return began.Add(time.Since(began)) }

// advance moves the watermark to t unless it is already there: a clock set back
// holds the watermark still.
func (w *wallClock) advance(t time.Time) { w.ms = max(w.ms, t.UnixMilli()) }

// now is the event time of elements emitted after advance.
func (w *wallClock) now() beam.EventTime { return mtime.FromMilliseconds(w.ms) }

// CurrentWatermark is called by Beam.
func (w *wallClock) CurrentWatermark() time.Time { return time.UnixMilli(w.ms) }
