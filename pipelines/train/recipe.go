package train

import (
	"errors"

	"millrace/pipelines/recipe"
	"millrace/transforms/advantage"
	"millrace/transforms/filter"
	"millrace/transforms/score"
)

// recipe is the configuration's recipe with the values of Algorithm in their places.
func (c Config) recipe() (recipe.Recipe, error) {
	named, err := recipe.ByName(c.Recipe)
	if err != nil {
		return recipe.Recipe{}, err
	}
	r, err := c.Algorithm.Over(named)
	if err = errors.Join(err, r.Validate()); err != nil {
		return recipe.Recipe{}, err
	}
	if r.MaxDraws > 1 && c.GroupSize == 1 {
		return recipe.Recipe{}, errors.New("max_draws is above 1: every group of one has equal rewards, and none would be trained on")
	}
	return r, nil
}

// Resolved is the configuration with every value that its recipe decides, for people
// and for the ledger. What is kept in a run directory is the configuration itself, so
// that another recipe can still take the place of this one. A recipe that is not valid
// resolves to nothing.
func (c Config) Resolved() Config {
	r, err := c.recipe()
	if err != nil {
		return c
	}
	c.Algorithm = r.Whole()
	c.Score = c.Score.under(r)
	return c
}

// Selection are the settings of filter and advantage under the configuration's
// recipe, which must be valid.
func (c Config) Selection() (filter.Config, advantage.Config) {
	r, err := c.recipe()
	if err != nil {
		panic(err) // Validate was not asked
	}
	grouping := r.AdvantageConfig(c.Rollout.Limits.Context)
	grouping.CloseAfter, grouping.Shuffle = c.Learn.GroupTime, c.Score.Shuffle
	return r.FilterConfig(), grouping
}

// MaxDraws is how many times the groups of a step may be ordered for it, under the
// configuration's recipe, which must be valid.
func (c Config) MaxDraws() int {
	r, err := c.recipe()
	if err != nil {
		panic(err) // Validate was not asked
	}
	return r.MaxDraws
}

// under names the reward of the recipe where none is named.
func (s ScoreConfig) under(r recipe.Recipe) ScoreConfig {
	if len(s.Rewards) == 0 && r.Reward != recipe.Tests {
		s.Rewards = []RewardConfig{{Reward: r.Reward, Weight: 1}}
	}
	return s
}

// rewarder is what gives the reward that is trained on.
func (c Config) rewarder(tests score.Rewarder) (score.Rewarder, error) {
	r, err := c.recipe()
	if err != nil {
		return nil, err
	}
	return c.Score.under(r).rewarder(tests)
}
