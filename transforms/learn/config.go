package learn

import (
	"errors"
	"fmt"

	"millrace/kernels"
)

// Config are the settings of a learner.
type Config struct {
	// Run is the run's id; a checkpoint of another run is refused.
	Run string
	// ConfigHash identifies the whole resolved configuration in the ledger.
	ConfigHash string
	// CodeVersion names the code in the ledger; empty where nothing is known.
	CodeVersion string
	// Dir is the directory of the checkpoints.
	Dir   string
	Keep  Keep
	Extra Extra

	// GroupsPerStep is the number of groups that a step consumes.
	GroupsPerStep int
	// MaxDraws times GroupsPerStep groups may be ordered for an iteration, so that
	// groups in which nothing weighs are replaced; 1 replaces none.
	MaxDraws int
	// MaxStaleness bounds how many versions before the update a token may have
	// been sampled; 0 is the synchronous loop.
	MaxStaleness int64

	Objective Objective
	// Context is the largest context in tokens, part of some divisors.
	Context int
	// Temperature is that of sampling; log-probabilities are compared under it.
	Temperature float64
	// MicroBatchTokens bounds the tokens of one forward and backward pass. A
	// longer sample has a pass of its own.
	MicroBatchTokens int
	// Minibatches is the number of optimizer steps a batch is cut into.
	Minibatches int

	// Optimizer holds the peak learning rate; Schedule moves it.
	Optimizer kernels.AdamW
	Schedule  Schedule
}

// Defaults are the settings of the recipe grpo++ for the default policy, without
// Run and Dir.
func Defaults() Config {
	return Config{
		Keep: Keep{Last: 3}, GroupsPerStep: 8, MaxDraws: 1, Context: 2048, Temperature: 1,
		Objective:        Objective{Loss: kernels.Loss{ClipLow: 0.2, ClipHigh: 0.28}, Aggregation: Constant},
		MicroBatchTokens: 8192, Minibatches: 1,
		// DeepSWE's optimizer (AdamW's and verl's defaults) at a rate for a policy
		// of a few million parameters.
		Optimizer: kernels.AdamW{
			LearningRate: 1e-4, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, WeightDecay: 0.01, ClipNorm: 1,
		},
	}
}

// Validate tells everything that is wrong.
func (c Config) Validate() error {
	var wrong []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	check(c.Run != "", "learn: run has no id")
	check(c.Dir != "", "learn: checkpoints have no directory")
	check(c.Keep.Last >= 1, "learn: keep.last is %d, at least 1 checkpoint must stay", c.Keep.Last)
	check(c.Keep.Every >= 0, "learn: keep.every is %d, less than 0", c.Keep.Every)
	check(c.GroupsPerStep >= 1, "learn: groups per step is %d, at least 1 is needed", c.GroupsPerStep)
	check(c.MaxDraws >= 1, "learn: max draws is %d, at least 1 is needed", c.MaxDraws)
	check(c.MaxStaleness >= 0, "learn: max staleness is %d, less than 0", c.MaxStaleness)
	check(c.Context >= 1, "learn: context is %d tokens", c.Context)
	check(c.Temperature > 0, "learn: temperature is %v; the loss needs the one of sampling, above 0", c.Temperature)
	check(c.MicroBatchTokens >= 1, "learn: micro-batch is %d tokens", c.MicroBatchTokens)
	check(c.Minibatches >= 1, "learn: minibatches is %d, at least 1 is needed", c.Minibatches)
	check(c.Optimizer.LearningRate >= 0, "learn: learning rate is %v", c.Optimizer.LearningRate)
	check(c.Schedule.Warmup >= 0, "learn: warm-up of %d steps", c.Schedule.Warmup)
	check(!c.Schedule.Cosine || c.Schedule.Total > c.Schedule.Warmup,
		"learn: cosine schedule ends at step %d, not behind its warm-up of %d", c.Schedule.Total, c.Schedule.Warmup)
	check(c.Schedule.Floor >= 0 && c.Schedule.Floor <= 1, "learn: schedule floor is %v, not in 0..1", c.Schedule.Floor)
	return errors.Join(append(wrong, c.Objective.Validate())...)
}
