package stage

import (
	"context"

	"millrace/transforms/kafkaio"
)

// Topics are the topics of one run.
type Topics struct {
	Tasks, Trajectories, Rewarded, Samples, Policy, Ledger, DeadLetters string
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

// All are the topics' names.
func (t Topics) All() []string {
	return []string{t.Tasks, t.Trajectories, t.Rewarded, t.Samples, t.Policy, t.Ledger, t.DeadLetters}
}

// Create makes the topics that do not exist, all in one request.
func Create(ctx context.Context, brokers string, partitions int, topics ...string) error {
	specs := make([]kafkaio.TopicSpec, len(topics))
	for i, topic := range topics {
		specs[i] = kafkaio.TopicSpec{Name: topic, Partitions: partitions}
	}
	return kafkaio.EnsureTopics(ctx, brokers, specs...)
}

// Stream says where a stage finds its topics.
type Stream struct {
	// Brokers is "host:port[,host:port...]".
	Brokers string
	Topics  Topics
	// Job is the stage's name in this process, by which it is drained and its
	// consumer group is known: "<run>.<stage>".
	Job string
}
