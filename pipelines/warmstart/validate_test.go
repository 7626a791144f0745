package warmstart

import (
	"math"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for want, spoil := range map[string]func(*Config){
		"altered is 1.5":                        func(c *Config) { c.Altered = 1.5 },
		"renamed is NaN":                        func(c *Config) { c.Renamed = math.NaN() },
		"collection.habits.slip is -1":          func(c *Config) { c.Collection.Habits.Slip = -1 },
		"collection.per_task is 0":              func(c *Config) { c.Collection.PerTask = 0 },
		"vocab_size is 256":                     func(c *Config) { c.VocabSize = 256 },
		"schedule.tokens is 0":                  func(c *Config) { c.Schedule.Tokens = 0 },
		"schedule.micro_tokens is 100":          func(c *Config) { c.Schedule.MicroTokens = 100 },
		"context is 5000: the model takes 4096": func(c *Config) { c.Context, c.Schedule.MicroTokens = 5000, 5000 },
		"schedule.learning_rate -1":             func(c *Config) { c.Schedule.LearningRate = -1 },
		"attention_gain 0":                      func(c *Config) { c.AttentionGain = 0 },
	} {
		c := Default()
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one line with %q", err, want)
		}
	}
}
