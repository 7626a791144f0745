package train

import (
	"fmt"
	"time"

	"millrace/transforms/score"
)

// ScoreConfig are the settings of scoring.
type ScoreConfig struct {
	TestTimeout time.Duration `yaml:"test_timeout"`
	Attempts    int           `yaml:"attempts"`
	// Rewards are the parts of the reward that is trained on, summed by their
	// weights; none is the hidden tests alone. Evaluation is always by the tests.
	Rewards []RewardConfig `yaml:"rewards"`
	// Compat reads test logs as the datasets' original parsers do, for a number that is
	// compared with a published one.
	Compat bool `yaml:"compat"`
	// Shuffle hands rewards out at random among the members of a group: the
	// control in which nothing can be learnt.
	Shuffle bool `yaml:"shuffle"`
}

// RewardConfig is one part of the reward.
type RewardConfig struct {
	// Reward is tests, similarity (of the patch to the gold patch, as in SWE-RL) or
	// command.
	Reward string  `yaml:"reward"`
	Weight float64 `yaml:"weight"`
	// Name is the part's in the records; default: Reward.
	Name string `yaml:"name"`
	// Command is run by sh on this host, with the trajectory as JSON on its standard
	// input, and prints a number within Timeout.
	Command string        `yaml:"command"`
	Timeout time.Duration `yaml:"timeout"`
}

// rewarder is what gives the configured reward, by tests where nothing else is said.
// The goals of a text environment are its tests.
func (c ScoreConfig) rewarder(tests score.Rewarder) (score.Rewarder, error) {
	if len(c.Rewards) == 0 {
		return tests, nil
	}
	var parts []score.Part
	for i, r := range c.Rewards {
		part, err := r.part(tests)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		parts = append(parts, part)
	}
	return score.NewSum(parts...)
}

func (r RewardConfig) part(tests score.Rewarder) (score.Part, error) {
	part := score.Part{Name: r.Name, Weight: r.Weight}
	if part.Name == "" {
		part.Name = r.Reward
	}
	if isCommand := r.Reward == "command"; isCommand != (r.Command != "") || isCommand != (r.Timeout > 0) {
		return part, fmt.Errorf("reward %q with command %q and timeout %v: a command needs both, no other reward has them", r.Reward, r.Command, r.Timeout)
	}
	switch r.Reward {
	case "tests":
		part.Of = tests
	case "similarity":
		part.Of = score.Similarity{}
	case "command":
		part.Of = score.ByCommand{Command: score.Command{Line: r.Command, Timeout: r.Timeout}}
	default:
		return part, fmt.Errorf("reward is %q: there are tests, similarity and command", r.Reward)
	}
	return part, nil
}
