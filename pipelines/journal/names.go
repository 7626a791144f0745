package journal

// The names of a step's metrics that the display and the report know by name,
// verl's where verl has one. The learner writes most of them
// (transforms/learn/metrics.go). Any other name is recorded just the same.
const (
	RewardMean  = "critic/rewards/mean" // of the samples that have a reward
	SolvedRatio = "reward/solved/ratio" // share of them with reward 1

	ResponseLength = "response_length/mean" // sampled tokens of a trajectory
	Turns          = "turns/mean"           // environment steps of a trajectory
	TestsRun       = "tools/tests_run/mean" // test commands of a trajectory
	Undos          = "tools/undo/mean"      // undone edits of a trajectory

	Entropy       = "actor/entropy"     // nats, mean over trained tokens
	GradNorm      = "actor/grad_norm"   // global L2 norm before clipping
	ClipFraction  = "actor/pg_clipfrac" // share of trained tokens whose clip is active
	PolicyLoss    = "actor/pg_loss"
	LearningRate  = "actor/lr"
	PolicyKL      = "actor/ppo_kl"      // k3 estimate of KL(behaviour, policy)
	MismatchMean  = "logprob_diff/mean" // |learner's - behaviour's log-prob| of a trained token
	MismatchMax   = "logprob_diff/max"
	StalenessMean = "staleness/mean" // steps between sampling and training
	StalenessMax  = "staleness/max"
	Consumed      = "samples/consumed" // samples of the step
	Weighing      = "samples/weighing" // those of them that are trained on
	Throughput    = "perf/throughput"  // tokens a second of update time

	TerminationPrefix = "termination/" // + reason + RatioSuffix
	RatioSuffix       = "/ratio"
	GroupPrefix       = "group/"    // + solved_all, solved_some, solved_none
	TimingPrefix      = "timing_s/" // + phase, in seconds
)
