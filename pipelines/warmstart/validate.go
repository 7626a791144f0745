package warmstart

import (
	"errors"
	"fmt"
)

// Validate reports everything that is wrong with the settings, by their keys.
func (c Config) Validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, p := range []struct {
		key   string
		value float64
	}{
		{"altered", c.Altered}, {"renamed", c.Renamed}, {"schedule.warmup", c.Schedule.Warmup},
		{"collection.habits.give_up", c.Collection.Habits.GiveUp},
		{"collection.habits.patient", c.Collection.Habits.Patient},
		{"collection.habits.skip_test", c.Collection.Habits.SkipTest},
		{"collection.habits.test_first", c.Collection.Habits.TestFirst},
		{"collection.habits.slip", c.Collection.Habits.Slip},
		{"collection.habits.look_again", c.Collection.Habits.LookAgain},
		{"collection.habits.fiddle", c.Collection.Habits.Fiddle},
	} {
		if !(p.value >= 0 && p.value <= 1) {
			refuse("%s is %v: want a share between 0 and 1", p.key, p.value)
		}
	}
	for _, n := range []struct {
		key          string
		value, least int64
	}{
		{"collection.per_task", int64(c.Collection.PerTask), 1},
		{"collection.drills", int64(c.Collection.Drills), 0},
		{"collection.snippets", int64(c.Collection.Snippets), 0},
		{"collection.concurrency", int64(c.Collection.Concurrency), 1},
		{"vocab_size", int64(c.VocabSize), int64(256 + len(fixed))}, // bytes and these
		{"reading", c.Reading, 0},
		{"context", int64(c.Context), 2},
		{"schedule.tokens", c.Schedule.Tokens, 1},
		{"schedule.batch_tokens", int64(c.Schedule.BatchTokens), 1},
		{"schedule.micro_tokens", int64(c.Schedule.MicroTokens), int64(c.Context)}, // a whole demonstration
	} {
		if n.value < n.least {
			refuse("%s is %d: must be at least %d", n.key, n.value, n.least)
		}
	}
	if c.Context > c.Model.MaxPositionEmbeddings {
		refuse("context is %d: the model takes %d tokens", c.Context, c.Model.MaxPositionEmbeddings)
	}
	if !(c.Schedule.LearningRate > 0) || !(c.AttentionGain > 0) {
		refuse("schedule.learning_rate %v and attention_gain %v must be positive", c.Schedule.LearningRate, c.AttentionGain)
	}
	return errors.Join(errs...)
}
