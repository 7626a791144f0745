package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"millrace/schemas"
)

// The files of a run directory.
const (
	metricsFile     = "metrics.jsonl"
	evaluationsFile = "evaluations.jsonl"
	boardDir        = "tensorboard"
)

// Journal appends to a run directory. It is safe for concurrent use. Only one
// may be open on a directory; the run directory's lock sees to that.
type Journal struct {
	mu          sync.Mutex // guards the files, so that lines do not mix
	steps       *lines
	evaluations *lines
	board       *board
}

// Open opens the journal of a run directory for appending, and makes directory
// and files if they are missing. A last line that is not whole is cut off.
func Open(dir string) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	steps, err := openLines(filepath.Join(dir, metricsFile), func(b []byte) bool { _, err := parseStep(b); return err == nil })
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	evaluations, err := openLines(filepath.Join(dir, evaluationsFile), func(b []byte) bool { _, err := parseEvaluation(b); return err == nil })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the journal: %w", err), steps.close())
	}
	return &Journal{steps: steps, evaluations: evaluations, board: &board{dir: filepath.Join(dir, boardDir)}}, nil
}

// Step records the metrics of a step. No name may be empty or come twice.
func (j *Journal) Step(step int64, at time.Time, metrics []schemas.Metric) error {
	s := Step{Number: step, Time: at, Metrics: make(map[string]float64, len(metrics))}
	for _, m := range metrics {
		if _, twice := s.Metrics[m.Name]; twice {
			return fmt.Errorf("recording step %d: metric %q comes twice", step, m.Name)
		}
		s.Metrics[m.Name] = m.Value
	}
	if err := s.validate(); err != nil {
		return fmt.Errorf("recording a step: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := errors.Join(j.steps.append(s.line()), j.board.scalars(step, at, s.Metrics)); err != nil {
		return fmt.Errorf("recording step %d: %w", step, err)
	}
	return nil
}

// Evaluation records an evaluation.
func (j *Journal) Evaluation(e Evaluation) error {
	if err := e.validate(); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := errors.Join(j.evaluations.append(e.line()), j.board.scalars(e.Step, e.Time, e.Scalars())); err != nil {
		return fmt.Errorf("recording the evaluation of %s at step %d: %w", e.Set, e.Step, err)
	}
	return nil
}

// Scalars are what a dashboard shows of an evaluation, by metric name.
func (e Evaluation) Scalars() map[string]float64 {
	name := "val/" + e.Set + "/"
	return map[string]float64{
		name + "pass@1":               e.Pass1.Mean,
		name + "pass@1_low":           e.Pass1.Low,
		name + "pass@1_high":          e.Pass1.High,
		name + "turns/mean":           e.Steps,
		name + "tests_run/mean":       e.TestsRun,
		name + "undo/mean":            e.Undos,
		name + "response_length/mean": e.Tokens,
		name + "failures":             float64(e.Failures),
	}
}

// Close closes the files.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return errors.Join(j.steps.close(), j.evaluations.close(), j.board.close())
}
