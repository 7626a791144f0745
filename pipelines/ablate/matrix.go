// Package ablate compares recipes: the same training run with single settings
// changed, over several seeds, and what each change is worth. It knows nothing of
// how the runs are made: it says which there are, and reads their journals.
package ablate

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"millrace/pipelines/settings"
)

// Matrix is what is compared: every arm with every seed is a run.
type Matrix struct {
	Title string `yaml:"title"`
	// Config is a YAML file of train, relative to the matrix's own; empty takes the
	// defaults. Set are single values over it. Both hold for every run.
	Config string   `yaml:"config"`
	Set    []string `yaml:"set"`
	// Arms are compared. The first is what the others are held against.
	Arms  []Arm    `yaml:"arms"`
	Seeds []uint64 `yaml:"seeds"`
	// Split is the held-out set that decides, Targets the shares of it to reach.
	Split   string    `yaml:"split"`
	Targets []float64 `yaml:"targets"`
}

// Arm is one choice of settings.
type Arm struct {
	// Name is a folder's name too.
	Name string `yaml:"name"`
	// Means says in a few words what the arm changes.
	Means string   `yaml:"means"`
	Set   []string `yaml:"set"`
}

// Run is one cell of a matrix.
type Run struct {
	Arm  int // index into Matrix.Arms
	Seed uint64
}

// Load reads a matrix from a YAML file.
func Load(path string) (Matrix, error) {
	var m Matrix
	if err := settings.Load(path, nil, &m); err != nil {
		return Matrix{}, err
	}
	if m.Config != "" && !filepath.IsAbs(m.Config) {
		m.Config = filepath.Join(filepath.Dir(path), m.Config)
	}
	if err := m.Validate(); err != nil {
		return Matrix{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

var folder = regexp.MustCompile(`^[A-Za-z0-9+_-][A-Za-z0-9+._-]{0,63}$`)

// Validate reports everything that is wrong with the matrix itself; what an arm
// sets is checked by train.
func (m Matrix) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(m.Arms) == 0 || len(m.Seeds) == 0 {
		refuse("a matrix needs arms and seeds, has %d and %d", len(m.Arms), len(m.Seeds))
	}
	for i, a := range m.Arms {
		if !folder.MatchString(a.Name) {
			refuse("arms[%d].name is %q: want letters, digits, '+', '.', '_' and '-', at most 64", i, a.Name)
		}
		if slices.IndexFunc(m.Arms, func(b Arm) bool { return b.Name == a.Name }) != i {
			refuse("arms[%d].name %q comes twice", i, a.Name)
		}
	}
	for i, seed := range m.Seeds {
		if slices.Index(m.Seeds, seed) != i {
			refuse("seeds[%d]: %d comes twice", i, seed)
		}
	}
	if m.Split == "" {
		refuse("split is empty: want the held-out set that decides")
	}
	for i, t := range m.Targets {
		if !(0 < t && t <= 1) {
			refuse("targets[%d] is %v: want a share above 0, at most 1", i, t)
		}
	}
	return errors.Join(errs...)
}

// Extends reports why results of the matrix old cannot stand beside those of m:
// arms and seeds may be added, nothing else may differ.
func (m Matrix) Extends(old Matrix) error {
	if m.Config != old.Config || !slices.Equal(m.Set, old.Set) {
		return errors.New("the settings of every run are others")
	}
	for _, a := range old.Arms {
		i := slices.IndexFunc(m.Arms, func(b Arm) bool { return b.Name == a.Name })
		if i < 0 {
			return fmt.Errorf("arm %s is gone", a.Name)
		}
		if !slices.Equal(m.Arms[i].Set, a.Set) {
			return fmt.Errorf("the settings of arm %s are others", a.Name)
		}
	}
	for _, seed := range old.Seeds {
		if !slices.Contains(m.Seeds, seed) {
			return fmt.Errorf("seed %d is gone", seed)
		}
	}
	return nil
}

// Runs are the runs of the matrix, seed by seed, so that every arm has a first
// result before any has a second.
func (m Matrix) Runs() []Run {
	var runs []Run
	for _, seed := range m.Seeds {
		for arm := range m.Arms {
			runs = append(runs, Run{Arm: arm, Seed: seed})
		}
	}
	return runs
}

// Dir is the directory of a run below the matrix's.
func (m Matrix) Dir(base string, r Run) string {
	return filepath.Join(base, m.Arms[r.Arm].Name, "seed-"+strconv.FormatUint(r.Seed, 10))
}

// Settings are the single values of a run, those of the arm over those of every
// run.
func (m Matrix) Settings(r Run) []string {
	return slices.Concat(m.Set, m.Arms[r.Arm].Set, []string{"seed=" + strconv.FormatUint(r.Seed, 10)})
}
