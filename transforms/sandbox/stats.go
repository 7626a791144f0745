package sandbox

import "time"

// Stats counts what a provider did since it was made.
type Stats struct {
	// Execs is the number of commands run.
	Execs int64
	// Timeouts is how many of them were killed at their deadline.
	Timeouts int64
	// Failures is how many could not be run.
	Failures int64
	// Busy is the sum of their wall times; divided by the time passed it is the
	// mean number of commands at work.
	Busy time.Duration
	// Waited is the sum of the times that commands waited for their turn.
	Waited time.Duration
}
