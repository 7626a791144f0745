package train

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"millrace/kernels"
	"millrace/kernels/cuda"
	"millrace/kernels/devices"
	"millrace/pipelines/mine"
	"millrace/pipelines/recipe"
	"millrace/pipelines/stage"
	"millrace/transforms/inject"
	"millrace/transforms/kafkaio"
	"millrace/transforms/rollout"
	"millrace/transforms/rollout/tools"
	"millrace/transforms/sandbox/docker"
)

// Config is the whole configuration of a run. Its defaults are the main job:
// the default agent on the default tasks, embedded, ten minutes on two cores.
type Config struct {
	// Name names the run and prefixes its topics; empty takes it from the seed.
	Name string `yaml:"name"`
	// Seed decides order of tasks and every random number of a rollout.
	Seed   uint64 `yaml:"seed"`
	Recipe string `yaml:"recipe"`
	// Algorithm overrides single values of the recipe.
	Algorithm recipe.Overrides `yaml:"algorithm,omitempty"`
	// Steps is the number of optimizer steps; Groups and GroupSize the batch of
	// one step: Groups tasks, GroupSize rollouts of each.
	Steps     int64 `yaml:"steps"`
	Groups    int   `yaml:"groups_per_step"`
	GroupSize int32 `yaml:"group_size"`
	// MaxStaleness is how many versions a sample may be behind the step that
	// trains on it; 0 is the synchronous, on-policy loop.
	MaxStaleness int64 `yaml:"max_staleness"`

	Policy   PolicyConfig   `yaml:"policy"`
	Sandbox  SandboxConfig  `yaml:"sandbox"`
	Tasks    TasksConfig    `yaml:"tasks"`
	Rollout  RolloutConfig  `yaml:"rollout"`
	Score    ScoreConfig    `yaml:"score"`
	Learn    LearnConfig    `yaml:"learn"`
	Evaluate EvaluateConfig `yaml:"evaluate"`
	Kafka    KafkaConfig    `yaml:"kafka"`

	// Device computes the update: auto, cpu, cuda or cuda:n. auto takes the first GPU
	// where one can be used.
	Device string `yaml:"device"`

	// Runner is Embedded, or Flink to run rollout, score and advantage on a
	// cluster. The learner is always in this process.
	Runner string            `yaml:"runner"`
	Flink  stage.FlinkConfig `yaml:"flink"`
}

// The values of Config.Runner.
const (
	Embedded = "embedded"
	Flink    = "flink"
)

// PolicyConfig says which policy is trained, and where it is sampled from.
type PolicyConfig struct {
	// Checkpoint is a Hugging Face directory with tokenizer.json; empty takes the
	// shipped warm start.
	Checkpoint string `yaml:"checkpoint"`
	// Random is a policy without any training, for text environments.
	Random RandomPolicy `yaml:"random"`
	// Endpoints are the base URLs of vLLM or SGLang servers that sample; none takes
	// the engine in this process. The learner hands its checkpoints over to them.
	Endpoints []string `yaml:"endpoints"`
	// Engine are the settings of the engine in this process.
	Engine EngineConfig `yaml:"engine"`
	// Dialect is openai or sglang; empty asks the servers.
	Dialect string `yaml:"dialect"`
	// Model is the servers' name for the policy; empty takes the only one they serve.
	Model string `yaml:"model"`
	// APIKeyEnv or APIKeyFile names where the servers' API key is; both empty sends
	// none.
	APIKeyEnv  string `yaml:"api_key_env"`
	APIKeyFile string `yaml:"api_key_file"`
	// Evaluation takes servers that give no token ids or log-probabilities, for jobs
	// whose trajectories are scored and never trained on.
	Evaluation bool `yaml:"evaluation"`
	// Checkpoints is the run's directory of checkpoints as the servers see it; empty
	// is its own path, on storage that all share.
	Checkpoints string `yaml:"checkpoints"`
	// InFlight bounds the requests to one server at a time, RequestTime each of them,
	// and HandOverTime one server's change of weights.
	InFlight     int           `yaml:"in_flight"`
	RequestTime  time.Duration `yaml:"request_time"`
	HandOverTime time.Duration `yaml:"hand_over_time"`
}

// EngineConfig are the settings of the engine in this process; 0 is the device's
// default. Of the rollouts in progress all take part in each of its ticks.
type EngineConfig struct {
	// PrefillTokens bounds the prompt tokens of one tick, so that a long prompt does not
	// hold up the rollouts that decode: 256 on the CPU, 4,096 on a GPU.
	PrefillTokens int `yaml:"prefill_tokens"`
	// CacheBytes bounds a GPU's cache of keys and values, which is allocated once: a
	// quarter of the memory that is free before the first update.
	CacheBytes uint64 `yaml:"cache_bytes"`
}

// TasksConfig says what is trained on.
type TasksConfig struct {
	// Environment is a task set of a text environment, in place of File and Kinds.
	Environment EnvironmentConfig `yaml:"environment"`
	// File is a JSON Lines task set; empty takes the shipped one.
	File string `yaml:"file"`
	// Split is the split of the set that is trained on.
	Split string `yaml:"split"`
	// Kinds keeps the tasks of the shipped set with a fault of these kinds, in
	// training and evaluation; empty keeps all. A file of one's own is its own choice.
	Kinds []inject.Kind `yaml:"kinds"`
}

// RolloutConfig are the settings of generation and environment.
type RolloutConfig struct {
	Limits rollout.Limits `yaml:"limits"`
	// Prompt has a default of the tools' style: texts that are not set are the
	// style's.
	Prompt  rollout.Prompt  `yaml:"prompt"`
	Notices rollout.Notices `yaml:"notices"`
	Tools   tools.Limits    `yaml:"tools"`
	// SingleTurn is SWE-RL's rollout: issue and files in the prompt, one turn with
	// edits, no sandbox. Prompt, notices and tools are not used.
	SingleTurn bool `yaml:"single_turn"`
	// Concurrency bounds the rollouts that run at once.
	Concurrency int     `yaml:"concurrency"`
	Attempts    int     `yaml:"attempts"`
	Temperature float64 `yaml:"temperature"`
	TopK        int     `yaml:"top_k"`
	TopP        float64 `yaml:"top_p"`
}

// LearnConfig are the settings of the update.
type LearnConfig struct {
	LearningRate float64 `yaml:"learning_rate"`
	WarmupSteps  int64   `yaml:"warmup_steps"`
	Beta1        float64 `yaml:"beta1"`
	Beta2        float64 `yaml:"beta2"`
	// Epsilon is added to the root of the second moment. Far below a gradient's
	// usual size, every weight takes a full step however little the loss has to do
	// with it, and noise alone wears the policy down; a policy of many more weights
	// has smaller gradients and needs a smaller one.
	Epsilon     float64 `yaml:"epsilon"`
	WeightDecay float64 `yaml:"weight_decay"`
	ClipNorm    float64 `yaml:"clip_norm"`
	// MicroTokens is the largest number of tokens in one forward and backward.
	MicroTokens int `yaml:"micro_tokens"`
	// Minibatches is the number of optimizer steps that a step's samples are cut into.
	// From the second on the policy is not the one that sampled, and clips count.
	Minibatches int `yaml:"minibatches"`
	// Precision is the format of weights and activations on a GPU: bf16 or fp32.
	// Gradients, moments and the weights in checkpoints are float32 in both, and the CPU
	// computes in float32.
	Precision string `yaml:"precision"`
	// Recompute is what a GPU computes again to save memory: auto, none, cheap or block.
	// Results do not depend on it.
	Recompute string `yaml:"recompute"`
	// Keep is the number of newest checkpoints kept, Every the distance of those
	// kept for good (0: none).
	Keep  int   `yaml:"keep_checkpoints"`
	Every int64 `yaml:"keep_every"`
	// GroupTime is how long a group may stay open.
	GroupTime time.Duration `yaml:"group_time"`
}

// EvaluateConfig are the held-out sets, scored before and after training.
type EvaluateConfig struct {
	Sets []EvaluationSet `yaml:"sets"`
	// Every is the distance in steps of evaluations on the way; 0 makes none. The
	// stages stop for each, so that it sees the policy of its step.
	Every int64 `yaml:"every"`
	// Temperature is that of evaluation rollouts.
	Temperature float64 `yaml:"temperature"`
}

// EvaluationSet is one held-out set.
type EvaluationSet struct {
	Split string `yaml:"split"`
	// Tasks bounds the number of tasks (0: all), Samples is the number of
	// rollouts of each.
	Tasks   int   `yaml:"tasks"`
	Samples int32 `yaml:"samples"`
}

// Default returns the main job.
func Default() Config {
	return Config{
		Seed:      7,
		Recipe:    recipe.Default,
		Steps:     20,
		Groups:    8,
		GroupSize: 8,
		Policy:    defaultPolicy(),
		Tasks:     TasksConfig{Environment: defaultEnvironment(), Split: mine.Train, Kinds: []inject.Kind{inject.FlipOperators, inject.Boundary}},
		Rollout: RolloutConfig{
			Limits: rollout.Limits{
				Context: 3072, Turn: 160, Steps: 60, Malformed: 5,
				Action: 3 * time.Minute, Time: 15 * time.Minute,
			},
			Tools:       tools.Limits{Style: tools.Brief, Lines: 40, Characters: 1600, Action: 15 * time.Second},
			Concurrency: 64,
			Attempts:    3,
			Temperature: 1,
		},
		Sandbox: SandboxConfig{CPUSeconds: 1, MemoryMiB: 512, Docker: docker.Default()},
		Score:   ScoreConfig{TestTimeout: 20 * time.Second, Attempts: 3, Rewards: []RewardConfig{}},
		Learn: LearnConfig{
			LearningRate: 3e-4, Beta1: 0.9, Beta2: 0.99, Epsilon: 1e-6, ClipNorm: 1,
			MicroTokens: 8192, Minibatches: 1, Precision: cuda.BF16.String(), Recompute: cuda.Automatic.String(), Keep: 2, GroupTime: 30 * time.Minute,
		},
		Evaluate: EvaluateConfig{
			Temperature: 1,
			Sets: []EvaluationSet{
				{Split: mine.HeldOutFault, Samples: 4},
				{Split: mine.HeldOutFunction, Samples: 2},
			},
		},
		Kafka:  KafkaConfig{Partitions: 2, Blobs: BlobsConfig{Above: kafkaio.BlobsAbove}},
		Device: devices.Auto,
		Runner: Embedded,
		Flink:  stage.DefaultFlink(),
	}
}

// RunName is the run's name: Name, or one made of the seed.
func (c Config) RunName() string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("seed-%d", c.Seed)
}

// topicPrefix leaves room for the rest of a topic's name: Kafka takes 249
// characters.
var topicPrefix = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)

// Validate reports everything that is wrong with the settings.
func (c Config) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if _, err := c.recipe(); err != nil {
		refuse("algorithm: %w", err)
	} else if _, err := c.rewarder(nil); err != nil {
		refuse("score.rewards: %w", err)
	}
	if !topicPrefix.MatchString(c.RunName()) {
		refuse("name is %q: it prefixes topics, so it may hold letters, digits, '.', '_' and '-' alone, at most 200", c.Name)
	}
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"groups_per_step", int64(c.Groups)}, {"group_size", int64(c.GroupSize)},
		{"rollout.concurrency", int64(c.Rollout.Concurrency)}, {"rollout.attempts", int64(c.Rollout.Attempts)},
		{"score.attempts", int64(c.Score.Attempts)}, {"learn.micro_tokens", int64(c.Learn.MicroTokens)},
		{"learn.minibatches", int64(c.Learn.Minibatches)}, {"learn.keep_checkpoints", int64(c.Learn.Keep)},
	} {
		if n.value < 1 {
			refuse("%s is %d: must be at least 1", n.key, n.value)
		}
	}
	if c.Steps < 0 || c.MaxStaleness < 0 || c.Learn.Every < 0 || c.Learn.WarmupSteps < 0 || c.Evaluate.Every < 0 {
		refuse("steps, max_staleness, learn.keep_every, learn.warmup_steps and evaluate.every must not be negative")
	}
	if c.Sandbox.CPUSeconds < 1 || c.Sandbox.MemoryMiB < 256 || c.Sandbox.Commands < 0 {
		refuse("sandbox: cpu_seconds %d must be at least 1, memory_mib %d at least 256 (a Go build needs it), commands %d not negative",
			c.Sandbox.CPUSeconds, c.Sandbox.MemoryMiB, c.Sandbox.Commands)
	}
	if !(c.Learn.Epsilon > 0) {
		refuse("learn.epsilon is %v: must be positive", c.Learn.Epsilon)
	}
	if c.Learn.LearningRate <= 0 {
		refuse("learn.learning_rate is %v: must be positive", c.Learn.LearningRate)
	}
	if c.Rollout.Temperature <= 0 {
		refuse("rollout.temperature is %v: must be positive, a greedy group has no spread to learn from", c.Rollout.Temperature)
	}
	if c.Learn.MicroTokens < c.Rollout.Limits.Context {
		refuse("learn.micro_tokens is %d: below rollout.limits.context %d, a full trajectory would not fit", c.Learn.MicroTokens, c.Rollout.Limits.Context)
	}
	if err := c.Policy.Validate(c.Runner); err != nil {
		refuse("policy: %w", err)
	}
	if err := c.Policy.Random.validate(c); err != nil {
		refuse("policy.random: %w", err)
	}
	if err := c.Tasks.Environment.Validate(); err != nil {
		refuse("tasks.environment: %w", err)
	}
	if c.Rollout.SingleTurn && !c.Tasks.InSandboxes() {
		refuse("rollout.single_turn answers with edits of files: a text environment has none")
	}
	for i, s := range c.Evaluate.Sets {
		if s.Samples < 1 || s.Tasks < 0 {
			refuse("evaluate.sets[%d]: samples %d must be at least 1, tasks %d not negative", i, s.Samples, s.Tasks)
		}
	}
	if err := c.Kafka.Validate(); err != nil {
		refuse("kafka.%w", err)
	}
	if err := devices.Validate(c.Device); err != nil {
		errs = append(errs, err)
	}
	if _, err := c.Learn.gpu(); err != nil {
		refuse("learn.%w", err)
	}
	switch c.Runner {
	case Embedded:
	case Flink:
		if err := c.Flink.Validate(); err != nil {
			refuse("flink.%w", err)
		}
	default:
		refuse("runner is %q: want %s or %s", c.Runner, Embedded, Flink)
	}
	if err := c.Rollout.Limits.Validate(); err != nil {
		refuse("rollout.%w", err)
	}
	return errors.Join(errs...)
}

// Sampling are the settings of generation in training.
func (c Config) Sampling() kernels.Sampling {
	return kernels.Sampling{Temperature: c.Rollout.Temperature, TopK: c.Rollout.TopK, TopP: c.Rollout.TopP}
}
