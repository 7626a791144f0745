package display

import (
	"maps"
	"slices"
	"strings"
	"time"

	"millrace/pipelines/journal"
)

// paceSteps is the number of steps over which the time of a step is averaged:
// steps become shorter or longer as the agent learns.
const paceSteps = 5

// state is what the display knows. It has no clock and writes nothing.
type state struct {
	phase       string
	total, done int
	began       time.Time // of the phase

	step, of int64
	metrics  map[string]float64
	// stepTimes are when the last steps ended, at most paceSteps+1 of them, and
	// each one number behind the other.
	stepTimes []time.Time

	stages     []Stage
	rates      []rates
	observedAt time.Time
}

func (s *state) begin(phase string, total int, now time.Time) {
	s.phase, s.total, s.done, s.began = phase, total, 0, now
}

func (s *state) stepped(step, of int64, metrics map[string]float64, now time.Time) {
	if step != s.step+1 {
		s.stepTimes = nil
	}
	s.step, s.of, s.metrics = step, of, maps.Clone(metrics)
	s.stepTimes = append(s.stepTimes, now)
	if len(s.stepTimes) > paceSteps+1 {
		s.stepTimes = s.stepTimes[1:]
	}
}

func (s *state) observe(stages []Stage, now time.Time) {
	before := map[string]Stage{}
	for _, g := range s.stages {
		before[g.Name] = g
	}
	elapsed := now.Sub(s.observedAt)
	s.rates = make([]rates, len(stages))
	for i, g := range stages {
		if b, seen := before[g.Name]; seen {
			s.rates[i] = ratesBetween(b, g, elapsed)
		}
	}
	s.stages, s.observedAt = slices.Clone(stages), now
}

// phaseLeft extrapolates the time the phase still takes.
func (s *state) phaseLeft(now time.Time) (time.Duration, bool) {
	if s.done <= 0 || s.total <= s.done {
		return 0, false
	}
	return time.Duration(float64(now.Sub(s.began)) / float64(s.done) * float64(s.total-s.done)), true
}

// stepsLeft extrapolates the time the steps still take from when the last step
// ended.
func (s *state) stepsLeft() (time.Duration, bool) {
	n := len(s.stepTimes)
	if n < 2 || s.of <= s.step {
		return 0, false
	}
	each := s.stepTimes[n-1].Sub(s.stepTimes[0]) / time.Duration(n-1)
	return each * time.Duration(s.of-s.step), true
}

// endings are the termination reasons with their shares, the most frequent
// first.
func (s *state) endings() []ending {
	var out []ending
	for name, v := range s.metrics {
		if reason, ok := strings.CutPrefix(name, journal.TerminationPrefix); ok && v > 0 {
			out = append(out, ending{clean(strings.TrimSuffix(reason, journal.RatioSuffix)), v})
		}
	}
	slices.SortFunc(out, func(a, b ending) int {
		switch {
		case a.share > b.share:
			return -1
		case a.share < b.share:
			return 1
		}
		return strings.Compare(a.reason, b.reason)
	})
	return out
}

type ending struct {
	reason string
	share  float64
}
