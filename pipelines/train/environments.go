package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/pipelines/mine"
	"millrace/schemas"
	"millrace/transforms/environment"
	"millrace/transforms/environment/frozenlake"
	"millrace/transforms/environment/lights"
	"millrace/transforms/sandbox"
)

// environments are the text environments, by the name that tasks give them.
var environments = map[string]environment.Environment{
	frozenlake.Name: frozenlake.Environment{},
	lights.Name:     lights.Environment{},
}

// EnvironmentConfig is a task set of a text environment. Of the environments' own
// settings, those of the named one count.
type EnvironmentConfig struct {
	// Name is frozenlake or lights; empty trains on tasks in sandboxes.
	Name       string         `yaml:"name"`
	FrozenLake frozenlake.Set `yaml:"frozenlake"`
	Lights     lights.Set     `yaml:"lights"`
}

// taskSet is what each environment's settings can do.
type taskSet interface {
	Validate() error
	Tasks() ([]schemas.Task, error)
}

// set is the task set of the named environment.
func (c EnvironmentConfig) set() (taskSet, error) {
	sets := map[string]taskSet{frozenlake.Name: c.FrozenLake, lights.Name: c.Lights}
	set, ok := sets[c.Name]
	if !ok {
		return nil, fmt.Errorf("name is %q: there are %s", c.Name, strings.Join(slices.Sorted(maps.Keys(sets)), " and "))
	}
	return set, nil
}

func defaultEnvironment() EnvironmentConfig {
	return EnvironmentConfig{FrozenLake: frozenlake.PublishedSet(), Lights: lights.DefaultSet()}
}

// Validate reports everything that is wrong with the named environment's settings.
func (c EnvironmentConfig) Validate() error {
	if c.Name == "" {
		return nil
	}
	set, err := c.set()
	if err != nil {
		return err
	}
	if err := set.Validate(); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	return nil
}

// load returns the tasks of the configuration: a text environment's, those of a file,
// or those of the kinds from the shipped set.
func (c TasksConfig) load() ([]schemas.Task, error) {
	if c.Environment.Name == "" {
		tasks, err := loadTasks(c.File)
		if c.File == "" {
			tasks = mine.OfKinds(tasks, c.Kinds)
		}
		return tasks, err
	}
	set, err := c.Environment.set()
	if err != nil {
		return nil, fmt.Errorf("tasks.environment: %w", err)
	}
	tasks, err := set.Tasks()
	if err != nil {
		return nil, fmt.Errorf("tasks.environment: making the tasks of %s: %w", c.Environment.Name, err)
	}
	return tasks, nil
}

// InSandboxes is true of tasks that need a sandbox. Those of a text environment do
// not.
func (c TasksConfig) InSandboxes() bool { return c.Environment.Name == "" }

// nowhere stands where a run has no process sandbox.
type nowhere struct{}

var errNowhere = errors.New("this run is of a text environment, which has no sandbox")

func (nowhere) Open(_ context.Context, label string, _ sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, &sandbox.Failure{Op: "opening a workspace", Label: label, Err: fmt.Errorf("%w: %w", errNowhere, sandbox.ErrUnsupported)}
}

func (nowhere) Describe() string { return "text environment, no sandbox" }
func (nowhere) Close() error     { return nil }
