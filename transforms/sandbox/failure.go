package sandbox

import (
	"errors"
	"fmt"
)

// ErrOutside marks a path that does not stay inside the workspace.
var ErrOutside = errors.New("path leaves the workspace")

// ErrTooLarge marks a workspace with too many files or bytes to take a
// snapshot of. It is the doing of what ran in the sandbox, not of the
// infrastructure.
var ErrTooLarge = errors.New("workspace is too large")

// ErrUnsupported marks a spec that a provider can never open: trying again
// cannot help.
var ErrUnsupported = errors.New("this sandbox cannot open such a workspace")

// Failure is an infrastructure failure: the sandbox could not be made or died
// for a reason that the command is not to blame for. It is retried and never
// becomes a reward (invariant 1).
type Failure struct {
	// Op is what was attempted, in the gerund: "starting sandbox".
	Op string
	// Label is the sandbox's label.
	Label string
	Err   error
}

func (f *Failure) Error() string {
	if f.Label == "" {
		return fmt.Sprintf("%s: %v", f.Op, f.Err)
	}
	return fmt.Sprintf("%s for %s: %v", f.Op, f.Label, f.Err)
}

func (f *Failure) Unwrap() error { return f.Err }
