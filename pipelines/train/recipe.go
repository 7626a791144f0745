package train

import (
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
