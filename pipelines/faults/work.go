package faults

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"millrace/pipelines/gomodule"
	"millrace/pipelines/prove"
	"millrace/transforms/inject/procedural"
)

// Config are the settings of tasks by fault injection.
type Config struct {
	// Patterns are the packages that are changed, as the go command takes them; empty
	// means "./...".
	Patterns []string
	Draw     procedural.Config
	// ReferenceRuns is how often the tests run without a fault (> 0), to leave out
	// flaky ones.
	ReferenceRuns int
	// Split is the split of the tasks.
	Split string
}

// DefaultConfig returns SWE-smith's draws, three reference runs and the split "train".
func DefaultConfig() Config {
	return Config{
		Draw:          procedural.Config{Seed: procedural.DefaultSeed, Attempts: procedural.DefaultAttempts},
		ReferenceRuns: 3,
		Split:         "train",
	}
}

// Validate reports everything that is wrong with the settings.
func (c Config) Validate() error {
	errs := []error{c.Draw.Validate()}
	if c.ReferenceRuns <= 0 {
		errs = append(errs, fmt.Errorf("injecting faults: %d reference runs; want at least 1", c.ReferenceRuns))
	}
	if c.Split == "" {
		errs = append(errs, errors.New("injecting faults: the split has no name"))
	}
	return errors.Join(errs...)
}

// Work is the fault injection into one module.
type Work struct {
	config    Config
	module    gomodule.Module
	suite     prove.Suite
	loaded    *loaded
	reference prove.Reference
}

// spec is what a candidate is made of again.
type spec struct {
	File  string            `json:"file"`
	Edits []procedural.Edit `json:"edits"`
}

// Input identifies all that the candidates and decisions of a module depend on, but
// for the toolchain.
func Input(c Config, m gomodule.Module, s prove.Suite) (string, error) {
	settings, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("identifying the input: %w", err)
	}
	return fmt.Sprintf("inject %s %s %s %s", m.Path, m.Hash(), settings, s.Limit), nil
}

// New type-checks the module and runs its tests without a fault.
func New(ctx context.Context, c Config, m gomodule.Module, s prove.Suite) (*Work, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if len(c.Patterns) == 0 {
		c.Patterns = []string{"./..."}
	}
	tested := m.TestedPackages()
	if len(tested) == 0 {
		return nil, fmt.Errorf("module %s has no tests", m.Path)
	}
	w := &Work{config: c, module: m, suite: s}
	var err error
	if w.loaded, err = load(ctx, m, c.Patterns); err != nil {
		return nil, err
	}
	w.reference, err = prove.NewReference(ctx, s, m.Path+" without a fault", m, prove.Selection{Dirs: tested}, c.ReferenceRuns)
	return w, err
}

// StableTests is the number of tests and subtests that pass every time.
func (w *Work) StableTests() int { return len(w.reference.Tests) }

// Units implements prove.Work: the packages.
func (w *Work) Units(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(w.loaded.packages)), nil
}

// List implements prove.Work: the changes of a package's files. Those that do not
// compile are decided on here.
func (w *Work) List(ctx context.Context, unit string, known func(string) bool, found func(prove.Candidate) error, decided func(prove.Decision) error) error {
	files, err := w.loaded.files(w.module, unit)
	if err != nil {
		return err
	}
	for _, f := range files {
		changes, err := procedural.Changes(w.config.Draw, f.File)
		if err != nil {
			return err
		}
		for _, change := range changes {
			if err := ctx.Err(); err != nil {
				return err
			}
			c, err := w.candidate(f, change)
			if err != nil {
				return err
			}
			if known(c.ID) {
				continue
			}
			if problem := f.check(change.Source); problem != nil {
				err = decided(c.Reject(prove.NoCompile, problem.Error()))
			} else {
				err = found(c)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// candidate names a change by module, modifier and content, so the same fault has the
// same id whatever drew it.
func (w *Work) candidate(f file, change procedural.Change) (prove.Candidate, error) {
	text, err := json.Marshal(spec{f.Name, change.Edits})
	if err != nil {
		return prove.Candidate{}, fmt.Errorf("describing a change of %s: %w", f.Name, err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s", f.Name, change.Source)
	return prove.Candidate{
		ID:     fmt.Sprintf("%s/%s/%s", w.module.Path, change.Kind, hex.EncodeToString(h.Sum(nil)[:idBytes])),
		Origin: string(change.Kind),
		Spec:   text,
	}, nil
}

// idBytes is the length of the hash in an id: 40 bits, with which two of ten thousand
// changes of one modifier are alike once in twenty thousand modules.
const idBytes = 5

// Decide implements prove.Work.
func (w *Work) Decide(ctx context.Context, c prove.Candidate) (prove.Decision, error) {
	var s spec
	if err := json.Unmarshal(c.Spec, &s); err != nil {
		return prove.Decision{}, fmt.Errorf("reading candidate %s: %w", c.ID, err)
	}
	original, ok := w.module.File(s.File)
	if !ok {
		return prove.Decision{}, fmt.Errorf("candidate %s: the module has no file %s", c.ID, s.File)
	}
	text, err := procedural.Apply([]byte(original), s.Edits)
	if err != nil {
		return prove.Decision{}, fmt.Errorf("candidate %s: %s: %w", c.ID, s.File, err)
	}
	faulty := w.module.With(s.File, string(text))
	sel := prove.Selection{Dirs: w.module.Dependents(path.Dir(s.File))}
	if len(sel.Dirs) == 0 {
		d := c.Reject(prove.NoFailToPass, "no test reaches the package")
		d.Compiled = true
		return d, nil
	}
	o, err := w.suite.Run(ctx, c.ID, faulty, sel)
	if err != nil {
		return prove.Decision{}, err
	}
	d, err := w.judge(ctx, c, s, faulty, sel, o)
	d.Compiled = true
	return d, err
}
