package score

import (
	"errors"
	"fmt"
	"time"
)

// Config are the settings of a [Scorer].
type Config struct {
	// TestTimeout is the time limit of one test command. Tests that exceed it
	// are worth 0.
	TestTimeout time.Duration
	// SetupTimeout is the deadline of everything else in one attempt: making the
	// sandbox, writing the files, closing it. Exceeding it is a failure.
	SetupTimeout time.Duration
	// Attempts is how often a run is tried before the trajectory is given up.
	Attempts int
	// Backoff is the pause after the first failed attempt; each further one is
	// twice as long, at most [maxBackoff].
	Backoff time.Duration
	// Environment names what the verdicts depend on beside the workspace and what
	// the provider says of itself: the toolchain, "go1.26.8 linux/amd64". Runs
	// recorded under another name are not used.
	Environment string
	// Compat reads logs as the datasets' original parsers do (see
	// [testlog.Options]): for an evaluation whose number is compared with a
	// published one.
	Compat bool
	// CacheEntries bounds the number of test runs remembered in memory (about
	// 1 to 5 KiB each).
	CacheEntries int
	// CacheFile keeps the runs over a restart. Empty keeps none.
	CacheFile string
}

// maxBackoff bounds the pause between attempts: longer than a container daemon
// takes to restart, shorter than anybody waits for a group.
const maxBackoff = 30 * time.Second

// DefaultConfig returns settings for tests that take seconds.
func DefaultConfig() Config {
	return Config{
		TestTimeout:  60 * time.Second,
		SetupTimeout: 30 * time.Second,
		Attempts:     3,
		Backoff:      500 * time.Millisecond,
		CacheEntries: 1 << 14,
	}
}

// Validate reports everything that is wrong with the settings.
func (c Config) Validate() error {
	var errs []error
	if c.TestTimeout <= 0 {
		errs = append(errs, fmt.Errorf("score: test timeout %v: tests need a time limit above 0", c.TestTimeout))
	}
	if c.SetupTimeout <= 0 {
		errs = append(errs, fmt.Errorf("score: setup timeout %v: every external call needs a deadline above 0", c.SetupTimeout))
	}
	if c.Attempts < 1 {
		errs = append(errs, fmt.Errorf("score: %d attempts: at least 1 is needed to score anything", c.Attempts))
	}
	if c.Backoff < 0 {
		errs = append(errs, fmt.Errorf("score: backoff %v is negative", c.Backoff))
	}
	if c.CacheEntries < 1 {
		errs = append(errs, fmt.Errorf("score: %d cache entries: at least 1 is needed", c.CacheEntries))
	}
	return errors.Join(errs...)
}
