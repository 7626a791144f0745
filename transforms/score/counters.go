package score

import "sync/atomic"

// counters are written by every goroutine that scores.
type counters struct{ scored, hits, retries, failures atomic.Int64 }

// Counts say what a scorer did since it was made. Scored = Hits + Failures +
// test runs that gave a value.
type Counts struct {
	// Scored is the number of rewards returned, failures included.
	Scored int64
	// Hits is the number of rewards read from a recorded or shared run.
	Hits int64
	// Retries is the number of attempts that failed and were repeated.
	Retries int64
	// Failures is the number of rewards returned without a value.
	Failures int64
}

// Counts returns the counters. They are read one by one, so while trajectories
// are being scored they may disagree by those.
func (s *Scorer) Counts() Counts {
	return Counts{
		Scored:   s.counters.scored.Load(),
		Hits:     s.counters.hits.Load(),
		Retries:  s.counters.retries.Load(),
		Failures: s.counters.failures.Load(),
	}
}
