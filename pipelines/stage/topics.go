package stage

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

// Stream says where a stage finds its topics.
type Stream struct {
	// Brokers is "host:port[,host:port...]".
	Brokers string
	Topics  Topics
	// Job is the stage's name in this process, by which it is drained and its
	// consumer group is known: "<run>.<stage>".
	Job string
}
