// Package recipe holds the recipes: each a named, complete choice of algorithm, from
// which filter, advantage and learner take their parts. docs/recipes.md lays them side
// by side.
//
// A recipe is data. What its settings compute stands where it is computed:
// [millrace/transforms/filter], [millrace/transforms/advantage],
// [millrace/transforms/learn.Objective] and [millrace/kernels.Loss].
package recipe

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/kernels"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
	"millrace/transforms/learn"
)

// Default is the recipe of a run that names none.
const Default = "grpo++"

// Recipe is a complete choice of algorithm.
type Recipe struct {
	// Reward is what is trained on where the configuration names no reward.
	Reward string
	// Filter is a mode of the filter.
	Filter string
	// Estimator is an estimator of the advantage stage.
	Estimator string
	// OverlongBuffer is the share of the largest response in which DAPO's penalty
	// rises, in (0, 1]; 0 punishes nothing. OverlongMax is the largest response in
	// sampled tokens; 0 is the context.
	OverlongBuffer float64
	OverlongMax    int
	// MaxDraws above 1 is dynamic sampling: groups whose rewards are all equal are
	// left out and replaced, until MaxDraws times the groups of a step were drawn.
	MaxDraws int
	// Objective is what a step minimises.
	Objective learn.Objective
}

// Rewards that a recipe may name.
const (
	Tests      = "tests"
	Similarity = "similarity"
)

// The recipes. A setting that a paper leaves open has verl's default, and
// docs/recipes.md says so.
var recipes = map[string]Recipe{
	// The parts that the DeepSWE report lists, with what a clock has cut off left out
	// (invariants 1 and 7).
	"grpo++": {
		Reward: Tests, Filter: filter.Compact, Estimator: "leave-one-out", MaxDraws: 1,
		Objective: learn.Objective{Loss: kernels.Loss{ClipLow: 0.2, ClipHigh: 0.28}, Aggregation: learn.Constant},
	},
	// GRPO++ as rLLM's code runs it.
	"deepswe": {
		Reward: Tests, Filter: filter.CompactPublished, Estimator: "leave-one-out-published", MaxDraws: 1,
		Objective: learn.Objective{Loss: kernels.Loss{ClipLow: 0.2, ClipHigh: 0.28}, Aggregation: learn.ConstantPublished},
	},
	// Shao et al. 2024, DeepSeekMath (arXiv:2402.03300), equation 3.
	"grpo": {
		Reward: Tests, Filter: filter.None, Estimator: "standardized", MaxDraws: 1,
		Objective: learn.Objective{Loss: kernels.Loss{ClipLow: 0.2, ClipHigh: 0.2, KLCoefficient: 0.001}, Aggregation: learn.SequenceMean},
	},
	// Yu et al. 2025 (arXiv:2503.14476): of 20,480 tokens, 4,096 are the buffer.
	"dapo": {
		Reward: Tests, Filter: filter.None, Estimator: "standardized", OverlongBuffer: 0.2, MaxDraws: 10,
		Objective: learn.Objective{Loss: kernels.Loss{ClipLow: 0.2, ClipHigh: 0.28}, Aggregation: learn.TokenMean},
	},
	// Liu et al. 2025 (arXiv:2503.20783).
	"dr-grpo": {
		Reward: Tests, Filter: filter.None, Estimator: "centered", MaxDraws: 1,
		Objective: learn.Objective{Loss: kernels.Loss{ClipLow: 0.2, ClipHigh: 0.2}, Aggregation: learn.Constant},
	},
	// Wei et al. 2025 (arXiv:2502.18449), equation 1: one ratio a sequence.
	"swe-rl": {
		Reward: Similarity, Filter: filter.None, Estimator: "standardized", MaxDraws: 1,
		Objective: learn.Objective{
			Loss:        kernels.Loss{SequenceRatio: true, ClipLow: 0.2, ClipHigh: 0.2, KLCoefficient: 0.001},
			Aggregation: learn.SequenceMean,
		},
	},
	// Ahmadian et al. 2024 (arXiv:2402.14740): REINFORCE over whole sequences. The
	// baseline is that of leave-one-out, which is RLOO's.
	"rloo": {
		Reward: Tests, Filter: filter.None, Estimator: "leave-one-out", MaxDraws: 1,
		Objective: learn.Objective{Aggregation: learn.SequenceSum},
	},
	// Zheng et al. 2025 (arXiv:2507.18071).
	"gspo": {
		Reward: Tests, Filter: filter.None, Estimator: "standardized", MaxDraws: 1,
		Objective: learn.Objective{
			Loss:        kernels.Loss{SequenceRatio: true, ClipLow: 3e-4, ClipHigh: 4e-4},
			Aggregation: learn.SequenceMean,
		},
	},
	// MiniMax 2025, MiniMax-M1 (arXiv:2506.13585): the weight has no lower bound.
	"cispo": {
		Reward: Tests, Filter: filter.None, Estimator: "standardized", MaxDraws: 1,
		Objective: learn.Objective{Loss: kernels.Loss{ClippedWeight: true, ClipLow: 10, ClipHigh: 0.2}, Aggregation: learn.TokenMean},
	},
}

// ByName returns a named recipe.
func ByName(name string) (Recipe, error) {
	r, ok := recipes[name]
	if !ok {
		return Recipe{}, fmt.Errorf("recipe is %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return r, nil
}

// Names are the names of the recipes, sorted.
func Names() []string { return slices.Sorted(maps.Keys(recipes)) }

// FilterConfig is the filter's part.
func (r Recipe) FilterConfig() filter.Config { return filter.Config{Mode: r.Filter} }

// AdvantageConfig is the advantage stage's part, over the defaults of its times.
// context is the largest context in tokens.
func (r Recipe) AdvantageConfig(context int) advantage.Config {
	c := advantage.DefaultConfig()
	c.Estimator, c.ExcludeEqual = r.Estimator, r.MaxDraws > 1
	if r.OverlongBuffer != 0 {
		longest := r.OverlongMax
		if longest == 0 {
			longest = context
		}
		c.Overlong = advantage.Overlong{Max: longest, Buffer: int(r.OverlongBuffer * float64(longest))}
	}
	return c
}

// Validate reports everything that is wrong with a recipe whose values were
// overridden.
func (r Recipe) Validate() error {
	errs := []error{r.FilterConfig().Validate(), r.Objective.Validate()}
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if _, ok := advantage.ByName(r.Estimator); !ok {
		refuse("estimator is %q: want one of %s", r.Estimator, strings.Join(advantage.Names(), ", "))
	}
	if !(r.OverlongBuffer >= 0 && r.OverlongBuffer <= 1) {
		refuse("overlong_buffer is %v: it is a share of the largest response, from 0 to 1", r.OverlongBuffer)
	}
	if r.OverlongMax < 0 {
		refuse("overlong_max is %d tokens: must not be negative", r.OverlongMax)
	}
	if r.OverlongMax > 0 && r.OverlongBuffer == 0 {
		refuse("overlong_max is %d tokens, but no overlong_buffer is set: nothing would be punished", r.OverlongMax)
	}
	if r.MaxDraws < 1 {
		refuse("max_draws is %d: must be at least 1, which replaces no group", r.MaxDraws)
	}
	return errors.Join(errs...)
}
