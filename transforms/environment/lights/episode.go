package lights

import (
	"errors"
	"fmt"

	"millrace/schemas"
	"millrace/transforms/environment"
)

// Name is what tasks call the environment.
const Name = "lights"

// AllOff is the only goal of a task.
const AllOff = "all lamps off"

// Parameters are what an episode is made of.
type Parameters struct {
	// Width and Height are the sides of the panel.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Crossed is true if a press switches the neighbours too.
	Crossed bool `json:"crossed"`
	// On are the lamps that are on at the beginning, row by row from bit 0.
	On uint32 `json:"on"`
	// Shortest is the least number of presses that solves it.
	Shortest int `json:"shortest"`
}

func (p Parameters) shape() shape { return shape{p.Width, p.Height, p.Crossed} }

// Validate reports everything that is wrong with the parameters.
func (p Parameters) Validate() error {
	if err := checkShape(p.shape()); err != nil {
		return err
	}
	var errs []error
	if p.On == 0 || p.On >= 1<<p.shape().lamps() {
		errs = append(errs, fmt.Errorf("on is %#x: want at least one of %d lamps, and no other", p.On, p.shape().lamps()))
	} else if n := p.shape().shortest(panel(p.On)); n != p.Shortest || n < 0 {
		errs = append(errs, fmt.Errorf("shortest is %d: the panel takes %d presses (-1: it cannot be solved)", p.Shortest, n))
	}
	return errors.Join(errs...)
}

func checkShape(s shape) error {
	if s.width < 1 || s.height < 1 || s.width > maxLamps || s.height > maxLamps || s.lamps() < 2 || s.lamps() > maxLamps {
		return fmt.Errorf("width is %d and height %d: want 2 to %d lamps", s.width, s.height, maxLamps)
	}
	if s.width > s.height {
		return fmt.Errorf("width is %d and height %d: lay it so that the height is no less", s.width, s.height)
	}
	return nil
}

// Environment is the environment of lights tasks.
type Environment struct{}

// Start begins an episode.
func (Environment) Start(task schemas.Task) (environment.Episode, error) {
	p, err := environment.Parameters[Parameters](task)
	if err != nil {
		return nil, err
	}
	e := &episode{shape: p.shape(), now: panel(p.On), lamps: map[string]string{}}
	for lamp := range e.shape.lamps() {
		name := e.shape.name(lamp)
		e.names, e.lamps[name] = append(e.names, name), name
	}
	return e, nil
}

type episode struct {
	shape shape
	now   panel
	names []string          // by lamp
	lamps map[string]string // the same, as words are looked up
}

// Prompt implements environment.Episode.
func (e *episode) Prompt() (system, user string) {
	return fmt.Sprintf(" Switch all X to O of %d columns", e.shape.width), e.shape.view(e.now)
}

// Step implements environment.Episode: the last word that names a lamp presses it.
func (e *episode) Step(turn string) environment.Answer {
	name, ok := environment.LastWord(turn, e.lamps)
	if !ok {
		return environment.Answer{Observation: e.shape.view(e.now) + " same"}
	}
	for lamp := range e.names {
		if e.names[lamp] == name {
			e.now ^= e.shape.toggles(lamp)
		}
	}
	return environment.Answer{Action: name, Observation: e.shape.view(e.now), Done: e.now == 0}
}

// Actions implements environment.Episode.
func (e *episode) Actions() []string { return e.names }

// Reached implements environment.Episode.
func (e *episode) Reached() []string {
	if e.now == 0 {
		return []string{AllOff}
	}
	return nil
}
