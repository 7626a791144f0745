package train

import "time"

// Observer is told how a run goes on. Its methods are called from several
// goroutines.
type Observer interface {
	// Phase begins a part of the run with a known number of things to do, of
	// which Progress tells how many are done.
	Phase(name string, total int)
	Progress(done int)
	// Step tells the metrics of an optimizer step.
	Step(step, of int64, metrics map[string]float64)
	// Stages tells the state of the stages, about once a second.
	Stages(stages []StageState)
	// Note is a line worth keeping.
	Note(text string)
}

// StageState is how one stage does.
type StageState struct {
	Name string
	// Busy is the share of its capacity in use, 0 to 1; NaN if it is not timed.
	Busy float64
	// In and Out are records read and written since the run began.
	In, Out int64
	// InFlight is the work under way, Lag the records not yet begun.
	InFlight, Lag int64
	// Idle is the time since the last record was read.
	Idle time.Duration
}
