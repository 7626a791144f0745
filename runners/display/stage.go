package display

import "time"

// Stage is what one stage of the dataflow does.
type Stage struct {
	Name string
	// Busy is the share of its capacity that a stage uses, 0 to 1.
	Busy float64
	// In and Out are the records read and written since the stage began.
	In, Out int64
	// InFlight records are being worked on; Lag records wait to be read.
	InFlight, Lag int64
	// Idle is the time since a record was last read.
	Idle time.Duration
}

// rates are the records a second that a stage read and wrote lately.
type rates struct{ in, out float64 }

// ratesBetween compares two observations of a stage. A stage that was started
// again counts from 0.
func ratesBetween(before, after Stage, elapsed time.Duration) rates {
	if elapsed <= 0 {
		return rates{}
	}
	if after.In < before.In || after.Out < before.Out {
		before = Stage{}
	}
	return rates{
		in:  float64(after.In-before.In) / elapsed.Seconds(),
		out: float64(after.Out-before.Out) / elapsed.Seconds(),
	}
}
