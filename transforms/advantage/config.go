package advantage

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Config are the settings of the stage.
type Config struct {
	// Estimator is the name of the formula, one of [Names].
	Estimator string
	// Overlong is taken from the reward before the estimator sees it.
	Overlong Overlong
	// ExcludeEqual takes the members of a group out whose rewards, before Overlong,
	// are all equal: the first half of DAPO's dynamic sampling (arXiv:2503.14476,
	// section 3.2). Ordering another group in its place is the pipeline's.
	ExcludeEqual bool
	// CloseAfter is the time limit of a group, counted from the arrival of its
	// first member at this stage. Then it closes with the members it has.
	CloseAfter time.Duration
	// RememberFor is how long a closed group is remembered, so that a member that
	// comes later is told to be late or a repeat. After that it would open a new
	// group. About 10 bytes a member are held meanwhile, of 64 Ki groups at most:
	// beyond that the oldest are forgotten early, so that memory stays flat.
	RememberFor time.Duration
	// CloseAtEnd says what becomes of an open group when the input ends before
	// its time limit: true closes it with the members it has (a bounded input: no
	// more will come); false forgets it without output, so that its positions are
	// not committed and the next start reads it again (a stream that is drained).
	CloseAtEnd bool
	// Shuffle hands the rewards of a group out at random among the members that
	// weigh: the control run in which nothing can be learnt. A sample keeps its
	// own reward, so that curves stay true; its advantage is another's.
	Shuffle bool
}

// DefaultConfig returns the streaming settings of the default recipe.
func DefaultConfig() Config {
	return Config{
		Estimator: "leave-one-out",
		// DeepSWE's limit for one trajectory is 5,400 s; a whole group is slower.
		CloseAfter:  2 * time.Hour,
		RememberFor: 6 * time.Hour,
	}
}

// Validate reports everything that is wrong with the settings.
func (c Config) Validate() error {
	var errs []error
	if _, ok := ByName(c.Estimator); !ok {
		errs = append(errs, fmt.Errorf("advantage: unknown estimator %q, want one of %s", c.Estimator, strings.Join(Names(), ", ")))
	}
	if err := c.Overlong.validate(); err != nil {
		errs = append(errs, err)
	}
	// Event time has a resolution of a millisecond.
	if c.CloseAfter < time.Millisecond {
		errs = append(errs, fmt.Errorf("advantage: groups closed after %v: a group needs time to fill, at least 1ms", c.CloseAfter))
	}
	if c.RememberFor < time.Millisecond {
		errs = append(errs, fmt.Errorf("advantage: closed groups remembered for %v: late members could not be told, at least 1ms", c.RememberFor))
	}
	return errors.Join(errs...)
}
