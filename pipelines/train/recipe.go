package train

import (
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
)

// recipe is a named, complete choice of algorithm: which trajectories count, how
// a group's rewards become advantages, and (in transforms/learn, under the same
// name) the loss.
type recipe struct {
	filter    string
	estimator string
}

var recipes = map[string]recipe{
	"grpo++":  {filter.Compact, "leave-one-out"},
	"deepswe": {filter.CompactPublished, "leave-one-out-published"},
	"grpo":    {filter.None, "standardized"},
}

// Selection are the settings of filter and advantage under the configuration's
// recipe, which must be a known one.
func (c Config) Selection() (filter.Config, advantage.Config) {
	recipe := recipes[c.Recipe]
	grouping := advantage.DefaultConfig()
	grouping.Estimator, grouping.CloseAfter = recipe.estimator, c.Learn.GroupTime
	grouping.Shuffle = c.Score.Shuffle
	return filter.Config{Mode: recipe.filter}, grouping
}
