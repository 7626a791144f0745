package prove

import (
	"context"

	"millrace/schemas"
)

// Candidate is what may become a task.
type Candidate struct {
	// ID is the task's id, and the same in every run on the same input.
	ID string `json:"id"`
	// Origin is where it comes from in the summary: a modifier, "commit".
	Origin string `json:"origin"`
	// Spec says what is needed to decide, in the Work's own words.
	Spec []byte `json:"spec,omitempty"`
}

// Reason says why a candidate is no task.
type Reason string

// The reasons that every Work may have.
const (
	// None is that of a task.
	None Reason = ""
	// NoCompile: it does not pass the type checker, or the tests do not build.
	NoCompile Reason = "does not compile"
	// Unbounded: a test ran into its time or memory limit. Such a task would cost
	// each rollout that limit, and limits are no reproducible verdict.
	Unbounded Reason = "unbounded"
	// NoFailToPass: no test notices the difference.
	NoFailToPass Reason = "no fail-to-pass"
	// NoPassToPass: no test passes with and without it.
	NoPassToPass Reason = "no pass-to-pass"
	// NoPassing: no test passes even with the solution.
	NoPassing Reason = "no passing test"
	// LongOutput: the tests that have to run print more than a scorer reads.
	LongOutput Reason = "long output"
	// Unsound: the task would not be accepted in a task set.
	Unsound Reason = "unsound task"
)

// Decision is what became of a candidate.
type Decision struct {
	ID     string `json:"id"`
	Origin string `json:"origin"`
	Reason Reason `json:"reason,omitempty"`
	// Detail tells more about a rejection, in one line.
	Detail string `json:"detail,omitempty"`
	// Compiled is true when the candidate passed the type checker.
	Compiled bool `json:"compiled,omitempty"`
	// Task is the task; nil with a reason.
	Task *schemas.Task `json:"-"`
}

// Reject is the decision against a candidate.
func (c Candidate) Reject(reason Reason, detail string) Decision {
	return Decision{ID: c.ID, Origin: c.Origin, Reason: reason, Detail: detail}
}

// Work finds candidates and decides on them. Its methods are called from several
// goroutines.
type Work interface {
	// Units are the parts in which candidates are listed, such as packages.
	Units(ctx context.Context) ([]string, error)
	// List hands the candidates of a unit to found, and those that need no test to
	// decided. What known returns true for has been decided, and need not be looked
	// at. The same input gives the same candidates in the same order.
	List(ctx context.Context, unit string, known func(id string) bool, found func(Candidate) error, decided func(Decision) error) error
	// Decide runs the tests of a candidate. An error is about the machine.
	Decide(ctx context.Context, c Candidate) (Decision, error)
}
