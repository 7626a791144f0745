package mine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"millrace/schemas"
)

// BuildConfig are the settings of a task set made from the corpus.
type BuildConfig struct {
	// Seed decides which faults become tasks and which split they are in.
	Seed uint64
	// PerFunction is the largest number of tasks of one function (> 0).
	PerFunction int
	// HeldOutFunctions is the number of functions that are held out whole (>= 0).
	HeldOutFunctions int
	// HeldOutFaults is the number of tasks of the other functions that are held
	// out (>= 0), at most HeldOutPerFunction of each function (>= 0).
	HeldOutFaults, HeldOutPerFunction int
	// TestTimeout is the time limit of one test run. The corpus' tests take
	// milliseconds; the limit ends faults that loop.
	TestTimeout time.Duration
	// Workers is the number of test runs at the same time (> 0).
	Workers int
}

// DefaultBuildConfig returns the settings that made the set of Default.
func DefaultBuildConfig() BuildConfig {
	return BuildConfig{
		Seed:               1,
		PerFunction:        24,
		HeldOutFunctions:   12,
		HeldOutFaults:      120,
		HeldOutPerFunction: 3,
		TestTimeout:        5 * time.Second,
		Workers:            2,
	}
}

// Validate reports everything that is wrong with the settings.
func (c BuildConfig) Validate() error {
	var errs []error
	positive := func(name string, v int64) {
		if v <= 0 {
			errs = append(errs, fmt.Errorf("building a task set: %s is %d; it has to be above 0", name, v))
		}
	}
	positive("PerFunction", int64(c.PerFunction))
	positive("TestTimeout", int64(c.TestTimeout))
	positive("Workers", int64(c.Workers))
	if c.HeldOutFunctions < 0 || c.HeldOutFaults < 0 || c.HeldOutPerFunction < 0 {
		errs = append(errs, fmt.Errorf("building a task set: of HeldOutFunctions %d, HeldOutFaults %d and HeldOutPerFunction %d none may be negative",
			c.HeldOutFunctions, c.HeldOutFaults, c.HeldOutPerFunction))
	}
	return errors.Join(errs...)
}

// BuildStats says what became of the candidates.
type BuildStats struct {
	// Outcomes counts the candidates by outcome.
	Outcomes map[Outcome]int
	// Tasks is the number of tasks, VisibleFails that of the tasks whose visible
	// test fails, so that the agent can see the fault.
	Tasks, VisibleFails int
}

// Build makes a task set of the programs: it checks that their tests pass
// without a fault, runs the tests of every candidate, and picks and splits the
// valid ones. Tasks are ordered by program, then by the place of the fault.
//
// It needs the go command. The result depends on cfg and programs alone, as
// long as no test run comes near its time limit.
func Build(ctx context.Context, cfg BuildConfig, programs []Program) ([]schemas.Task, BuildStats, error) {
	stats := BuildStats{Outcomes: map[Outcome]int{}}
	if err := cfg.Validate(); err != nil {
		return nil, stats, err
	}
	validated, err := validateAll(ctx, cfg, programs)
	if err != nil {
		return nil, stats, err
	}
	for _, vs := range validated {
		for _, v := range vs {
			stats.Outcomes[v.Outcome]++
		}
	}
	var tasks []schemas.Task
	ids := map[string]bool{}
	for _, v := range assign(cfg, validated) {
		if ids[v.Task.ID] {
			return nil, stats, fmt.Errorf("building a task set: id %s twice", v.Task.ID)
		}
		ids[v.Task.ID] = true
		tasks = append(tasks, v.Task)
		if v.VisibleFails {
			stats.VisibleFails++
		}
	}
	stats.Tasks = len(tasks)
	return tasks, stats, nil
}

// validateAll returns the candidates of each program with their outcomes.
func validateAll(ctx context.Context, cfg BuildConfig, programs []Program) ([][]Validated, error) {
	out := make([][]Validated, len(programs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cfg.Workers)
	for i, p := range programs {
		candidates, err := Candidates(p)
		if err != nil {
			return nil, errors.Join(err, g.Wait())
		}
		out[i] = make([]Validated, len(candidates))
		g.Go(func() error { return CheckProgram(ctx, p, cfg.TestTimeout) })
		for j, c := range candidates {
			g.Go(func() (err error) {
				out[i][j], err = Validate(ctx, c, cfg.TestTimeout)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}
