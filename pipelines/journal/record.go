package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// Record is what a run has recorded so far.
type Record struct {
	// Steps are in the order of their numbers, each once.
	Steps []Step
	// Evaluations are in the order of step, then set, each pair once.
	Evaluations []Evaluation
}

// Step is one line of metrics.jsonl.
type Step struct {
	// Number is that of the optimizer step, or 0 for what was measured before
	// the first.
	Number int64
	Time   time.Time
	// Metrics holds NaN for a value that was not finite.
	Metrics map[string]float64
}

// Evaluation is one line of evaluations.jsonl: what a policy version did on a
// held-out set.
type Evaluation struct {
	// Step is the policy version evaluated, 0 before training.
	Step int64
	Set  string
	Time time.Time
	// Pass1 is pass@1, the mean over the tasks of the set.
	Pass1 Interval
	// Tasks and Rollouts were scored; Failures are rollouts lost to the
	// infrastructure, which are in no rate.
	Tasks, Rollouts, Failures int
	// Temperature is that of sampling; Samples is the number of rollouts of a
	// task.
	Temperature float64
	Samples     int
	// Means over the scored trajectories: environment steps, test commands,
	// undone edits and sampled tokens.
	Steps, TestsRun, Undos, Tokens float64
}

// Interval is an estimate with its 95 % confidence interval.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// stepLine is a Step in JSON. A field that is missing is nil, so that a line
// that says nothing is refused and not read as step 0.
type stepLine struct {
	Step    *int64              `json:"step"`
	Time    int64               `json:"time"`
	Metrics map[string]*float64 `json:"metrics"`
}

func (s Step) line() stepLine {
	l := stepLine{Step: &s.Number, Time: s.Time.UnixMicro(), Metrics: make(map[string]*float64, len(s.Metrics))}
	for name, v := range s.Metrics {
		if finite(v) {
			l.Metrics[name] = &v
		} else {
			l.Metrics[name] = nil
		}
	}
	return l
}

func parseStep(b []byte) (Step, error) {
	var l stepLine
	if err := json.Unmarshal(b, &l); err != nil {
		return Step{}, err
	}
	if l.Step == nil || l.Metrics == nil {
		return Step{}, errors.New("has no step or no metrics")
	}
	s := Step{Number: *l.Step, Time: time.UnixMicro(l.Time), Metrics: make(map[string]float64, len(l.Metrics))}
	for name, v := range l.Metrics {
		s.Metrics[name] = math.NaN()
		if v != nil {
			s.Metrics[name] = *v
		}
	}
	return s, s.validate()
}

func (s Step) validate() error {
	if s.Number < 0 {
		return fmt.Errorf("step is %d: must not be negative", s.Number)
	}
	if _, unnamed := s.Metrics[""]; unnamed {
		return fmt.Errorf("step %d has a metric without a name", s.Number)
	}
	return nil
}

// evaluationLine is an Evaluation in JSON.
type evaluationLine struct {
	Step        *int64    `json:"step"`
	Time        int64     `json:"time"`
	Set         string    `json:"set"`
	Pass1       *Interval `json:"pass@1"`
	Tasks       int       `json:"tasks"`
	Rollouts    int       `json:"rollouts"`
	Failures    int       `json:"failures"`
	Temperature float64   `json:"temperature"`
	Samples     int       `json:"samples"`
	Steps       float64   `json:"steps_mean"`
	TestsRun    float64   `json:"tests_run_mean"`
	Undos       float64   `json:"undo_mean"`
	Tokens      float64   `json:"sampled_tokens_mean"`
}

func (e Evaluation) line() evaluationLine {
	return evaluationLine{
		Step: &e.Step, Time: e.Time.UnixMicro(), Set: e.Set, Pass1: &e.Pass1,
		Tasks: e.Tasks, Rollouts: e.Rollouts, Failures: e.Failures,
		Temperature: e.Temperature, Samples: e.Samples,
		Steps: e.Steps, TestsRun: e.TestsRun, Undos: e.Undos, Tokens: e.Tokens,
	}
}

func parseEvaluation(b []byte) (Evaluation, error) {
	var l evaluationLine
	if err := json.Unmarshal(b, &l); err != nil {
		return Evaluation{}, err
	}
	if l.Step == nil || l.Pass1 == nil {
		return Evaluation{}, errors.New("has no step or no pass@1")
	}
	e := Evaluation{
		Step: *l.Step, Time: time.UnixMicro(l.Time), Set: l.Set, Pass1: *l.Pass1,
		Tasks: l.Tasks, Rollouts: l.Rollouts, Failures: l.Failures,
		Temperature: l.Temperature, Samples: l.Samples,
		Steps: l.Steps, TestsRun: l.TestsRun, Undos: l.Undos, Tokens: l.Tokens,
	}
	return e, e.validate()
}

func (e Evaluation) validate() error {
	if e.Step < 0 || e.Set == "" {
		return fmt.Errorf("evaluation of set %q at step %d: must have a set and a step of at least 0", e.Set, e.Step)
	}
	p := e.Pass1
	for _, v := range []float64{p.Mean, p.Low, p.High} {
		if !(0 <= v && v <= 1) { // false for NaN
			return fmt.Errorf("evaluation of set %q at step %d: pass@1 has %v, not between 0 and 1", e.Set, e.Step, v)
		}
	}
	for _, v := range []float64{e.Temperature, e.Steps, e.TestsRun, e.Undos, e.Tokens} {
		if !finite(v) {
			return fmt.Errorf("evaluation of set %q at step %d: has a number that is not finite", e.Set, e.Step)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
