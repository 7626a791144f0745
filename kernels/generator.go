package kernels

import (
	"errors"
	"time"
)

// ErrClosed is part of the error of every call of a generator that is closed, and of
// those that its closing ends.
var ErrClosed = errors.New("generator is closed")

// GeneratorStats are what a generator has done since it was made.
type GeneratorStats struct {
	// Generated and Prefilled count tokens sampled and prompt tokens read.
	Generated, Prefilled int64
	// Ticks counts forward passes.
	Ticks int64
	// Busy is the time spent in them.
	Busy time.Duration
	// Active is the number of calls in progress now.
	Active int
}

// MeteredGenerator is a Generator with counters.
type MeteredGenerator interface {
	Generator
	Stats() GeneratorStats
}
