package tools

// Observation is the environment's answer to a call.
type Observation struct {
	Text string
	// ExitCode is the command's exit status, -1 if it was cut at its time limit;
	// for the other tools 0 or, if the call was refused, 1.
	ExitCode int
	// Refused is true when the tool could not do what the call says.
	Refused bool
	// Done is true when the agent said that it has finished.
	Done bool
}

// finished is the answer to finish and submit.
const finished = "<<< Finished >>>"
