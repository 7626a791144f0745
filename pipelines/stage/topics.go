package stage

import (
	"context"
	"time"

	"millrace/transforms/kafkaio"
)

// Topics are the topics of one run; an empty name is a topic that it has not.
type Topics struct {
	Tasks, Trajectories, Rewarded, Samples, Policy, Ledger, DeadLetters string
	// Filtered is between the filter and the advantages where these are in two
	// jobs; in a training run they are in one.
	Filtered string
}

// TopicsOf names the topics of a run: "<run>.<what>".
func TopicsOf(run string) Topics {
	return Topics{
		Tasks:        run + ".tasks",
		Trajectories: run + ".trajectories",
		Rewarded:     run + ".rewarded",
		Samples:      run + ".samples",
		Policy:       run + ".policy",
		Ledger:       run + ".ledger",
		DeadLetters:  run + ".deadletters",
	}
}

// RolloutTopicsOf names the topics of an evaluation, which trains nothing: it has
// no samples, policy versions and ledger of its own.
func RolloutTopicsOf(run string) Topics {
	t := TopicsOf(run)
	return Topics{Tasks: t.Tasks, Trajectories: t.Trajectories, Rewarded: t.Rewarded, DeadLetters: t.DeadLetters}
}

// TopicSettings are the settings of topics that are created.
type TopicSettings struct {
	Partitions int
	// Replication is the number of brokers that hold each record; 0 is the
	// broker's default.
	Replication int
	// Retention is how long trajectories, rewards, samples and dead letters are
	// kept; 0 is for ever.
	Retention time.Duration
}

// Create makes the topics that do not exist, all in one request.
func Create(ctx context.Context, brokers string, settings TopicSettings, topics Topics) error {
	return kafkaio.EnsureTopics(ctx, brokers, topics.specs(settings)...)
}

// specs says how each topic is kept. Orders and ledger are kept for ever,
// whatever the retention: a resumed run reads both from their beginning, and
// they are small. The policy's topic is a table, the newest version of each run.
func (t Topics) specs(s TopicSettings) []kafkaio.TopicSpec {
	all := []kafkaio.TopicSpec{
		{Name: t.Tasks},
		{Name: t.Trajectories, Retention: s.Retention},
		{Name: t.Rewarded, Retention: s.Retention},
		{Name: t.Filtered, Retention: s.Retention},
		{Name: t.Samples, Retention: s.Retention},
		{Name: t.Policy, Compact: true},
		{Name: t.Ledger},
		{Name: t.DeadLetters, Retention: s.Retention},
	}
	var specs []kafkaio.TopicSpec
	for _, spec := range all {
		if spec.Name != "" {
			spec.Partitions, spec.Replicas = s.Partitions, s.Replication
			specs = append(specs, spec)
		}
	}
	return specs
}

// Stream says where a stage finds its topics.
type Stream struct {
	// Brokers is "host:port[,host:port...]".
	Brokers string
	Topics  Topics
	// Job is the stage's name in this process, by which it is drained and its
	// consumer group is known: "<run>.<stage>".
	Job string
	// Poll is that of kafkaio.Source.
	Poll time.Duration
}
