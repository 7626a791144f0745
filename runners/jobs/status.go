package jobs

import (
	"time"

	"millrace/pipelines/submit"
)

// State is how a job stands.
type State string

// The states. A job in any but Running and Done can be resumed.
const (
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Drained   State = "drained"
	// Lost is a job whose process is gone without a last word: killed, or with its
	// machine. It is never written, it is what a reader finds.
	Lost State = "lost"
)

// Status is what the file says of a job.
type Status struct {
	ID     string   `json:"id"`
	State  State    `json:"state"`
	Stages []string `json:"stages"`
	// Error is why it failed, in one line.
	Error string `json:"error,omitempty"`
	// Process is the one that works on the job, or did so last.
	Process Process `json:"process"`
	// Runs is the number of processes that have begun to work on it.
	Runs      int       `json:"runs"`
	Submitted time.Time `json:"submitted"`
	// Ended is when the last process ended, zero while it runs.
	Ended time.Time `json:"ended,omitzero"`
	// Phase is what it does, Finished how much of Total it has done of that; Total
	// is 0 where that is not known.
	Phase    string `json:"phase,omitempty"`
	Finished int    `json:"finished,omitempty"`
	Total    int    `json:"total,omitempty"`
	// Result is what it has come to, once it has ended or was drained.
	Result *submit.Result `json:"result,omitempty"`
}
