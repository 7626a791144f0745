package submit

import (
	"errors"
	"fmt"
	"path/filepath"

	"millrace/pipelines/recipe"
	"millrace/pipelines/stage"
	"millrace/pipelines/train"
)

// Config is the whole configuration of a job. The sections that training has too
// mean the same, and settings of stages that the job does not have are not looked
// at: one file may serve several jobs.
type Config struct {
	// Stages are those of the job, upstream first and without a gap.
	Stages []string `yaml:"stages"`
	Input  Input    `yaml:"input"`
	Output Output   `yaml:"output"`

	// Seed decides every random number of a rollout, together with the job's id.
	Seed   uint64 `yaml:"seed"`
	Recipe string `yaml:"recipe"`
	// Algorithm overrides single values of the recipe.
	Algorithm recipe.Overrides `yaml:"algorithm,omitempty"`
	// GroupSize is the number of rollouts of a task. A job that begins behind
	// rollout takes it from its records.
	GroupSize int32 `yaml:"group_size"`
	// Groups bounds the groups that are rolled out at once.
	Groups int `yaml:"groups"`
	// MaxTasks takes so many tasks of the split, at even distances; 0 takes all.
	MaxTasks int `yaml:"max_tasks"`

	Policy  train.PolicyConfig  `yaml:"policy"`
	Sandbox train.SandboxConfig `yaml:"sandbox"`
	Tasks   train.TasksConfig   `yaml:"tasks"`
	// Rollout.Concurrency bounds the trajectories that are scored at once too.
	Rollout train.RolloutConfig `yaml:"rollout"`
	Score   train.ScoreConfig   `yaml:"score"`
	Kafka   train.KafkaConfig   `yaml:"kafka"`

	// Runner is train.Embedded, or train.Flink to run the stages on a cluster.
	Runner string            `yaml:"runner"`
	Flink  stage.FlinkConfig `yaml:"flink"`
}

// Input says what a job works on that begins behind rollout; one that begins with
// rollout works on tasks. One of the fields is set.
type Input struct {
	// Parquet is a data directory, as a run or another job wrote it.
	Parquet string `yaml:"parquet"`
	// Topic is a topic of kafka.brokers: trajectories, rewards or filtered members.
	Topic string `yaml:"topic"`
}

// Output says where the rows go beside the job's own topics. With neither field
// set, they go to Parquet in the job's directory.
type Output struct {
	// Parquet is a data directory. The job's files are in partitions of its id.
	Parquet string `yaml:"parquet"`
	// Topic is a topic of kafka.brokers, which is made if it is missing.
	Topic string `yaml:"topic"`
}

// Default returns a job of all stages over the tasks that training uses.
func Default() Config {
	t := train.Default()
	return Config{
		Stages: []string{Rollout, Score, Filter, Advantage},
		Seed:   t.Seed, Recipe: t.Recipe, GroupSize: t.GroupSize, Groups: t.Groups,
		Policy: t.Policy, Sandbox: t.Sandbox, Tasks: t.Tasks, Rollout: t.Rollout, Score: t.Score, Kafka: t.Kafka,
		Runner: t.Runner, Flink: t.Flink,
	}
}

// Validate reports everything that is wrong with the settings.
func (c Config) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := contiguous(c.Stages); err != nil {
		refuse("stages: %w", err)
		return errors.Join(errs...)
	}
	from := 0
	for _, set := range []string{c.Input.Parquet, c.Input.Topic} {
		if set != "" {
			from++
		}
	}
	switch {
	case c.has(Rollout) && from > 0:
		refuse("input: a job that begins with rollout works on tasks: leave input out, or begin with a later stage")
	case !c.has(Rollout) && from != 1:
		refuse("input: a job that begins with %s needs one of input.parquet and input.topic", c.first())
	}
	if (c.Input.Topic != "" || c.Output.Topic != "") && c.Kafka.Brokers == "" {
		refuse("input.topic and output.topic are topics of your Kafka: set kafka.brokers")
	}
	if c.Input.Topic != "" && c.Input.Topic == c.Output.Topic {
		refuse("output.topic is input.topic: the job would read what it writes")
	}
	if c.Input.Parquet != "" && filepath.Clean(c.Input.Parquet) == filepath.Clean(c.Output.Parquet) {
		refuse("output.parquet is input.parquet: choose another directory")
	}
	if c.Groups < 1 || c.MaxTasks < 0 {
		refuse("groups is %d, max_tasks is %d: want at least 1 and 0", c.Groups, c.MaxTasks)
	}
	if err := c.training("job").Validate(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// training is the configuration of the training run that has the same stages.
func (c Config) training(job string) train.Config {
	t := train.Default()
	t.Name, t.Seed, t.Recipe, t.Algorithm, t.GroupSize = job, c.Seed, c.Recipe, c.Algorithm, c.GroupSize
	t.Policy, t.Sandbox, t.Tasks, t.Rollout, t.Score, t.Kafka = c.Policy, c.Sandbox, c.Tasks, c.Rollout, c.Score, c.Kafka
	t.Runner, t.Flink = c.Runner, c.Flink
	t.Evaluate.Sets = nil
	t.Learn.MicroTokens = max(t.Learn.MicroTokens, c.Rollout.Limits.Context) // there is no learner to hold them
	return t
}

// Resolved is the configuration with every value that its recipe decides, for people.
func (c Config) Resolved() Config {
	t := c.training("job").Resolved()
	c.Algorithm, c.Score = t.Algorithm, t.Score
	return c
}

// Paths are the settings that name files, for a caller that makes them
// independent of the working directory.
func (c *Config) Paths() []*string {
	return []*string{
		&c.Input.Parquet, &c.Output.Parquet, &c.Policy.Checkpoint, &c.Tasks.File,
		&c.Kafka.TLS.CAFile, &c.Kafka.TLS.CertFile, &c.Kafka.TLS.KeyFile, &c.Kafka.SASL.PasswordFile,
	}
}
