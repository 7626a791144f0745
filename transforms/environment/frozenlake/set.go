package frozenlake

import (
	"errors"
	"fmt"

	"millrace/schemas"
	"millrace/transforms/environment"
	"millrace/transforms/environment/numpy"
)

// The splits of a set.
const (
	Train = "train"
	Test  = "test"
)

// Set is a task set: rLLM's rule for drawing maps, with its bounds as settings.
type Set struct {
	// Seed is that of numpy.random.seed.
	Seed uint32 `yaml:"seed"`
	// Train and Test are the numbers of tasks.
	Train int `yaml:"train"`
	Test  int `yaml:"test"`
	// Sizes are the least and the greatest side of a map; Frozen bounds the
	// probability of a frozen tile, the upper bound excluded.
	Sizes  [2]int     `yaml:"sizes"`
	Frozen [2]float64 `yaml:"frozen"`
	// Apart leaves out training tasks whose board a test task has too: of small
	// boards there are few.
	Apart bool `yaml:"apart"`
	// Reach, Slippery, Protocol and Steps are those of [Parameters].
	Reach    int      `yaml:"reach"`
	Slippery bool     `yaml:"slippery"`
	Protocol Protocol `yaml:"protocol"`
	Steps    int      `yaml:"steps"`
}

// PublishedSet is rLLM's: 10,000 maps to train on and 100 to test with.
func PublishedSet() Set {
	return Set{
		Seed: 42, Train: 10_000, Test: 100, Sizes: [2]int{2, 9}, Frozen: [2]float64{0.6, 0.85},
		Reach: 8, Protocol: Published, Steps: 10,
	}
}

// maxSeeds is the number of seeds that maps are drawn from.
const maxSeeds = 100_000

// Validate reports everything that is wrong with the set.
func (s Set) Validate() error {
	var errs []error
	if s.Train < 1 || s.Test < 0 {
		errs = append(errs, fmt.Errorf("train is %d and test %d: want at least 1 and 0", s.Train, s.Test))
	}
	if s.Sizes[0] > s.Sizes[1] || !(s.Frozen[0] < s.Frozen[1]) {
		errs = append(errs, fmt.Errorf("sizes is %v and frozen %v: the lower bound comes first", s.Sizes, s.Frozen))
	}
	for i := range 2 {
		p := s.parameters(0, s.Sizes[i], s.Frozen[i])
		if err := p.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("bound %d of a map: %w", i+1, err))
			break
		}
	}
	return errors.Join(errs...)
}

func (s Set) parameters(seed, size int, p float64) Parameters {
	return Parameters{Seed: uint64(seed), Size: size, P: p, Reach: s.Reach, Slippery: s.Slippery, Protocol: s.Protocol, Steps: s.Steps}
}

// draw draws the parameters of all maps in the published order: seeds of both
// splits, then sizes, then probabilities, training first.
func (s Set) draw() (train, test []Parameters) {
	rng := numpy.NewLegacy(s.Seed)
	seeds, sizes, frozen := make([]int, s.Train+s.Test), make([]int, s.Train+s.Test), make([]float64, s.Train+s.Test)
	for i := range seeds {
		seeds[i] = rng.Int(0, maxSeeds)
	}
	for i := range sizes {
		sizes[i] = rng.Int(s.Sizes[0], s.Sizes[1]+1)
	}
	for i := range frozen {
		frozen[i] = rng.Uniform(s.Frozen[0], s.Frozen[1])
	}
	all := make([]Parameters, len(seeds))
	for i := range all {
		all[i] = s.parameters(seeds[i], sizes[i], frozen[i])
	}
	return all[:s.Train], all[s.Train:]
}

// Tasks returns the tasks, those to train on first. The set must be valid.
func (s Set) Tasks() ([]schemas.Task, error) {
	train, test := s.draw()
	held := map[string]bool{}
	if s.Apart {
		for _, p := range test {
			held[p.board().String()] = true
		}
	}
	var tasks []schemas.Task
	add := func(p Parameters, split string) error {
		task, err := environment.Task(Name, fmt.Sprintf("%dx%d", p.Size, p.Size), split, p, GoalReached)
		tasks = append(tasks, task)
		return err
	}
	for _, p := range train {
		if s.Apart && held[p.board().String()] {
			continue
		}
		if err := add(p, Train); err != nil {
			return nil, err
		}
	}
	for _, p := range test {
		if err := add(p, Test); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

func (p Parameters) board() Board { return NewBoard(p.Seed, p.Size, p.P, p.Reach) }
