package reprocess_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export"
	"millrace/pipelines/reprocess"
	"millrace/pipelines/stage"
	"millrace/runners/embedded"
	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/kafkaio"
)

// start runs a pipeline on the embedded runner.
func start(ctx context.Context, name string, p *beam.Pipeline) (stage.Job, error) {
	return embedded.RunJob(ctx, name, p)
}

func broker(t testing.TB) string {
	t.Helper()
	b, err := embedded.StartBroker(embedded.BrokerConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.Addr()
}

// trajectory is a rollout with the given number of tokens, of which a third is
// sampled, in 8 turns; a token comes with about 4 bytes of text.
func trajectory(run string, iteration int64, task string, rollout, size int32, tokens int) schemas.Trajectory {
	random := rand.New(rand.NewPCG(uint64(iteration), uint64(rollout)))
	t := schemas.Trajectory{
		ID: schemas.TrajectoryID(run, task, iteration, rollout, 0), GroupID: schemas.GroupID(run, task, iteration), Run: run,
		Iteration: iteration, Rollout: rollout,
		Task: schemas.Task{ID: task, Iteration: iteration, Rollouts: size, Statement: strings.Repeat("word ", 100),
			Files:      []schemas.File{{Path: "a.go", Content: strings.Repeat("line\n", 100)}},
			FailToPass: []string{"TestFixed"}, PassToPass: []string{"TestOther"}},
		Tokens: make([]int32, tokens), LossMask: make([]bool, tokens), LogProbs: make([]float32, tokens), Versions: make([]int32, tokens),
		Termination: schemas.Finished, Finished: day + iteration*1e6,
	}
	const turns = 8
	width := tokens / turns
	for j := range tokens {
		t.Tokens[j], t.Versions[j] = random.Int32N(30000), -1
		if j%width > 2*width/3 {
			t.LossMask[j], t.LogProbs[j], t.Versions[j] = true, -random.Float32(), int32(iteration)
		}
	}
	for k := range int32(turns) {
		t.Steps = append(t.Steps, schemas.Step{TokenStart: k*int32(width) + int32(width)/2, TokenEnd: (k + 1) * int32(width), Tool: "execute_bash",
			Action: strings.Repeat("act ", width/3), Observation: strings.Repeat("see ", 2*width/3)})
	}
	return t
}

// day is 2026-11-20T23:59:50Z: iterations from 10 on are of the next day.
const day = 1795219190000000

// scored is a trajectory with a reward, of which the test results agree.
func scored(t schemas.Trajectory, value float64) schemas.Reward {
	r := schemas.Reward{Trajectory: t, Value: value, Passed: []string{"TestFixed", "TestOther"}}
	if value == 0 {
		r.Passed, r.FailedTests = []string{"TestOther"}, []string{"TestFixed"}
	}
	return r
}

// log is a log of 24 groups of 4 with what a run leaves: rollouts that used up their
// budget, that a clock cut off, that failed and that could not be scored, and members
// that were delivered twice.
func log(run string) []schemas.Reward {
	var out []schemas.Reward
	for iteration := range int64(12) {
		for _, task := range []string{"a/b/1", "a/b/2"} {
			for rollout := range int32(4) {
				t := trajectory(run, iteration, task, rollout, 4, 64)
				r := scored(t, float64((int64(rollout)*iteration+iteration/3)%2))
				switch {
				case iteration%4 == 1 && rollout == 0:
					r.Trajectory.Termination = schemas.ContextFull
				case iteration%4 == 2 && rollout == 1:
					r.Trajectory.Termination = schemas.TimeLimit
				case iteration%4 == 3 && rollout == 2:
					t.Termination, t.Failure = schemas.Failed, "no sandbox"
					t.Tokens, t.LossMask, t.LogProbs, t.Versions, t.Steps = nil, nil, nil, nil, nil
					r = schemas.Reward{Trajectory: t, Failure: "rollout: no sandbox"}
				case iteration == 5 && rollout == 3:
					r = schemas.Reward{Trajectory: t, Failure: "disk full"}
				}
				out = append(out, r)
				if iteration == 7 && rollout == 1 {
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// produce writes rewards to the rewarded topic of a run that is new.
func produce(t testing.TB, brokers, run string, partitions int, rewards []schemas.Reward) stage.Topics {
	t.Helper()
	topics := stage.TopicsOf(run)
	if err := stage.Create(t.Context(), brokers, stage.TopicSettings{Partitions: partitions}, topics); err != nil {
		t.Fatal(err)
	}
	var outputs []kafkaio.Output
	bytes := 0
	for i, r := range rewards {
		o, err := stage.RewardOutput(topics, r)
		if err != nil {
			t.Fatal(err)
		}
		outputs = append(outputs, o)
		if bytes += len(o.Value); bytes > 8<<20 || i == len(rewards)-1 {
			if err := kafkaio.Produce(t.Context(), brokers, outputs...); err != nil {
				t.Fatal(err)
			}
			outputs, bytes = nil, 0
		}
	}
	return topics
}

// files writes rewards as the data set of a run.
func files(t testing.TB, dir, run string, rewards []schemas.Reward) {
	t.Helper()
	w := dataset.NewWriter(dir+"/"+export.Trajectories, run, schemas.Rewards)
	for _, r := range rewards {
		if err := w.Add(r, dataset.DayOf(r.Trajectory.Finished), 16*len(r.Trajectory.Tokens)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// frames are the values of a topic by key.
func frames(t testing.TB, brokers, topic string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := kafkaio.Scan(t.Context(), brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		out[string(r.Key)] = append(out[string(r.Key)], string(r.Value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func estimator(name string) advantage.Config {
	c := advantage.DefaultConfig()
	c.Estimator = name
	return c
}

func topicSink(t testing.TB, brokers, run string, partitions, lanes int, rewards bool) (stage.Topics, reprocess.Sink) {
	t.Helper()
	topics := stage.TopicsOf(run)
	sink, err := reprocess.NewTopicSink(t.Context(), brokers, topics, stage.TopicSettings{Partitions: partitions}, lanes, rewards)
	if err != nil {
		t.Fatal(err)
	}
	return topics, sink
}

func openTopic(t testing.TB, brokers, topic string, offsets []reprocess.Offsets, lanes int) *reprocess.TopicSource {
	t.Helper()
	s, err := reprocess.OpenTopic(t.Context(), brokers, topic, offsets, lanes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t testing.TB, c reprocess.Config) *reprocess.Report {
	t.Helper()
	c.Name = fmt.Sprintf("%s.%d", strings.ReplaceAll(t.Name(), "/", "."), rand.Uint64())
	report, err := reprocess.Run(t.Context(), start, c)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
