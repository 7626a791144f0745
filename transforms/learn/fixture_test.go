package learn

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"millrace/kernels"
	"millrace/kernels/cpu"
	"millrace/schemas"
)

// tiny is a whole Qwen3, small enough to step in milliseconds.
var tiny = kernels.Config{
	VocabSize: 16, HiddenSize: 8, IntermediateSize: 16, NumHiddenLayers: 1, NumAttentionHeads: 2,
	NumKeyValueHeads: 1, HeadDim: 4, MaxPositionEmbeddings: 32, RMSNormEps: 1e-6, RopeTheta: 10000,
	TieWordEmbeddings: true,
}

func tensorsOf(t testing.TB, trainer kernels.Trainer) []kernels.Tensor {
	t.Helper()
	tensors, err := trainer.Weights().Tensors()
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}

func tinyTrainer(t testing.TB) kernels.Trainer {
	t.Helper()
	weights, err := cpu.InitWeights(tiny, 7)
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := cpu.NewTrainer(tiny, weights)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trainer.Close() })
	return trainer
}

func tinyConfig(t testing.TB, dir string) Config {
	t.Helper()
	tokenizer := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(tokenizer, []byte(`{"model":{}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	c := Defaults()
	c.Run, c.ConfigHash, c.Dir = "run", "c0ffee", dir
	c.Keep = Keep{Last: 1}
	c.Extra = Extra{Tokenizer: tokenizer, Stop: []int32{2}}
	c.GroupsPerStep, c.Context, c.MicroBatchTokens = 2, 32, 24
	return c
}

// record is a record of the log.
type record struct{ key, value []byte }

// testLog is a samples topic of one partition: two groups of three samples for
// each iteration, shuffled within reach of one iteration, with repetitions,
// records that cannot be read, samples that are too old, filtered ones, and one
// with a token outside of the vocabulary.
func testLog(t testing.TB, iterations int64) []record {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	var log []record
	for iteration := range iterations {
		var part []record
		for _, g := range []string{"a", "b"} {
			for rollout := range 3 {
				s := randomSample(random, fmt.Sprintf("run/%d/%s", iteration, g), rollout, iteration)
				switch {
				case iteration == 1 && g == "a" && rollout == 0: // filtered
					s.Weight, s.Excluded, s.Termination = 0, string(schemas.StepLimit), schemas.StepLimit
				case iteration == 1 && g == "b" && rollout == 1: // too old
					s.Versions[len(s.Versions)-1] = 0
				case iteration == 2 && g == "a" && rollout == 2: // unusable
					s.Tokens[0] = 999
				}
				r := record{[]byte(s.GroupID), encode(t, s)}
				if iteration == 2 && g == "b" && rollout == 0 { // unreadable
					r.value[len(r.value)/2] ^= 1
				}
				part = append(part, r)
				if rollout == 1 { // delivered twice
					part = append(part, r)
				}
			}
		}
		random.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		log = append(log, part...)
	}
	for i := 4; i+7 < len(log); i += 7 { // iterations overlap
		log[i], log[i+7] = log[i+7], log[i]
	}
	return log
}

func randomSample(random *rand.Rand, group string, rollout int, iteration int64) schemas.Sample {
	s := testSample(fmt.Sprintf("%s#%d.0", group, rollout), group, iteration, 3, 0)
	n := 6 + random.IntN(8)
	s.Tokens, s.LossMask = make([]int32, n), make([]bool, n)
	s.LogProbs, s.Versions = make([]float32, n), make([]int32, n)
	for i := range n {
		s.Tokens[i], s.Versions[i] = random.Int32N(16), -1
		if i > 2 {
			s.LossMask[i], s.LogProbs[i], s.Versions[i] = true, -2.7-random.Float32()/10, int32(iteration)
		}
	}
	s.Rollout, s.Reward, s.Advantage, s.Turns = int32(rollout), float64(rollout%2), random.Float64()*2-1, 2
	return s
}

func encode(t testing.TB, s schemas.Sample) []byte {
	t.Helper()
	frame, err := schemas.Samples.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// outcome is what a run left behind.
type outcome struct {
	updates map[int64]schemas.Update
	letters map[string]schemas.DeadLetter
	weights []byte // of the current checkpoint
	learner *Learner
}

func newOutcome() *outcome {
	return &outcome{updates: map[int64]schemas.Update{}, letters: map[string]schemas.DeadLetter{}}
}

func (o *outcome) deliver(updates []schemas.Update, letters []schemas.DeadLetter) {
	for _, u := range updates {
		o.updates[u.Step] = u
	}
	for _, d := range letters {
		d.Time = 0
		o.letters[d.ID] = d
	}
}

// play opens a learner and feeds it the log from its position on.
func (o *outcome) play(t testing.TB, config Config, parts Parts, log []record, reached func(string) error) error {
	t.Helper()
	parts.Reached = reached
	l, err := Open(config, parts)
	if err != nil {
		return err
	}
	o.learner = l
	if err := l.Announce(context.Background()); err != nil {
		return err
	}
	o.deliver(l.Pending())
	from := int64(0)
	if at := l.Positions(); len(at) > 0 {
		from = at[0].Offset
	}
	for i := from; i < int64(len(log)); i++ {
		updates, letters, err := l.Consume(context.Background(), bytes.Clone(log[i].key), bytes.Clone(log[i].value),
			schemas.Position{Topic: "samples", Offset: i})
		if err != nil {
			return err
		}
		o.deliver(updates, letters)
	}
	o.weights, err = os.ReadFile(filepath.Join(l.Checkpoint(), weightsFile))
	return err
}

func never(string) error { return nil }

// undisturbed plays the log once from the beginning.
func undisturbed(t testing.TB, change func(*Config), log []record) *outcome {
	t.Helper()
	config := tinyConfig(t, t.TempDir())
	if change != nil {
		change(&config)
	}
	o := newOutcome()
	if err := o.play(t, config, Parts{Trainer: tinyTrainer(t), Reference: tinyTrainer(t)}, log, never); err != nil {
		t.Fatal(err)
	}
	return o
}

func metric(u schemas.Update, name string) (float64, bool) {
	i := slices.IndexFunc(u.Metrics, func(m schemas.Metric) bool { return m.Name == name })
	if i < 0 {
		return 0, false
	}
	return u.Metrics[i].Value, true
}
