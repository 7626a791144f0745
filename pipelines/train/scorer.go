package train

import (
	"errors"

	"millrace/transforms/score"
)

// Scorer decides trajectories as a run of the configuration does: by hidden tests, or
// a text environment's goals.
type Scorer struct {
	score.Rewarder
	parts parts
}

// OpenScorer opens sandboxes that show the Go build cache goCache, and the cache of
// test results below a run directory.
func OpenScorer(c Config, dir, goCache string) (*Scorer, error) {
	s := &Scorer{}
	if err := s.parts.openSandboxes(c, dir, goCache); err != nil {
		return nil, errors.Join(err, s.parts.Close())
	}
	s.Rewarder = s.parts.verdict
	return s, nil
}

// Close closes sandboxes and cache.
func (s *Scorer) Close() error { return s.parts.Close() }
