package lights

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"millrace/schemas"
	"millrace/transforms/environment"
)

// The splits of a set.
const (
	Train = "train"
	Test  = "test"
)

// Set is a task set: panels that differ, drawn at random from a seed.
type Set struct {
	Seed uint64 `yaml:"seed"`
	// Width and Height are the sides of the panels.
	Width  int `yaml:"width"`
	Height int `yaml:"height"`
	// Crossed is true if a press switches the neighbours too.
	Crossed bool `yaml:"crossed"`
	// Presses are the least and the greatest number of presses that a panel takes.
	Presses [2]int `yaml:"presses"`
	// Train is the most tasks to train on, Test the number to test with. A small
	// panel has few states: what is not tested with may be fewer than Train.
	Train int `yaml:"train"`
	Test  int `yaml:"test"`
}

// DefaultSet has panels of two by four lamps, all of whose states can be solved, and
// in one way alone.
func DefaultSet() Set {
	return Set{Seed: 1, Width: 2, Height: 4, Crossed: true, Presses: [2]int{1, 4}, Train: 10_000, Test: 32}
}

// Validate reports everything that is wrong with the set.
func (s Set) Validate() error {
	var errs []error
	if err := checkShape(shape{width: s.Width, height: s.Height}); err != nil {
		return err
	}
	if s.Train < 1 || s.Test < 0 {
		errs = append(errs, fmt.Errorf("train is %d and test %d: want at least 1 and 0", s.Train, s.Test))
	}
	if n := s.Width * s.Height; s.Presses[0] < 1 || s.Presses[1] < s.Presses[0] || s.Presses[1] > n {
		errs = append(errs, fmt.Errorf("presses is %v: want two numbers of 1 to %d, the lower first", s.Presses, n))
	}
	return errors.Join(errs...)
}

// tries bounds the draws in a row that give no new panel; then the set has nearly
// all there are.
const tries = 1000

// Tasks returns the tasks, those to test with first: so they are the same whatever
// the number of those to train on. The set must be valid.
func (s Set) Tasks() ([]schemas.Task, error) {
	rng := rand.New(rand.NewPCG(s.Seed, 0x6c69676874)) // "light"
	size := shape{s.Width, s.Height, s.Crossed}
	seen := map[panel]bool{}
	var tasks []schemas.Task
	for failed := 0; len(tasks) < s.Test+s.Train && failed < tries; failed++ {
		presses := s.Presses[0] + rng.IntN(s.Presses[1]-s.Presses[0]+1)
		var lamps panel
		for _, lamp := range rng.Perm(size.lamps())[:presses] {
			lamps |= 1 << lamp
		}
		start := size.pressed(0, lamps)
		shortest := size.shortest(start) // fewer presses may do
		if seen[start] || shortest < s.Presses[0] {
			continue
		}
		seen[start], failed = true, 0
		split := Train
		if len(tasks) < s.Test {
			split = Test
		}
		p := Parameters{Width: s.Width, Height: s.Height, Crossed: s.Crossed, On: uint32(start), Shortest: shortest}
		task, err := environment.Task(Name, fmt.Sprintf("%dx%d", s.Width, s.Height), split, p, AllOff)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, task)
	}
	if len(tasks) <= s.Test {
		return nil, fmt.Errorf("a panel of %d by %d lamps and %d to %d presses has %d states: none is left beside %d to test with",
			s.Width, s.Height, s.Presses[0], s.Presses[1], len(tasks), s.Test)
	}
	return tasks, nil
}
