package learn

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"millrace/kernels"
	"millrace/schemas"
)

// lossSamples: three that weigh with 2, 3 and 1 trained tokens, one excluded for
// its length, one without a reward, one that failed.
func lossSamples() []schemas.Sample {
	sample := func(trained int, weight float32, excluded string, end schemas.Termination) schemas.Sample {
		s := schemas.Sample{Weight: weight, Excluded: excluded, Termination: end, LossMask: make([]bool, 8)}
		for i := range trained {
			s.LossMask[7-i] = true
		}
		return s
	}
	return []schemas.Sample{
		sample(2, 1, "", schemas.Finished), sample(3, 1, "", schemas.Finished), sample(1, 1, "", schemas.Malformed),
		sample(5, 0, "context", schemas.ContextFull), sample(4, 0, "unscored", schemas.Finished),
		sample(0, 0, "failed", schemas.Failed),
	}
}

func TestObjectiveOfAMinibatch(t *testing.T) {
	const context, temperature = 100, 0.5
	clip := kernels.Loss{ClipLow: 0.2, ClipHigh: 0.28, KLCoefficient: 0.001}
	for aggregation, want := range map[Aggregation]kernels.Loss{
		// 3 weighing sequences x 100
		Constant: {Divisor: 300},
		// and the one that ran out of context: facts of rLLM's seq-mean-token-sum;
		// neither a failure nor a missing reward is a sequence
		ConstantPublished: {Divisor: 400},
		SequenceMean:      {PerSequenceMean: true, Divisor: 3},
		SequenceSum:       {Divisor: 3},
		// 2 + 3 + 1 trained tokens
		TokenMean: {Divisor: 6},
	} {
		o := Objective{Loss: clip, Aggregation: aggregation}
		if err := o.Validate(); err != nil {
			t.Error(err)
		}
		want.ClipLow, want.ClipHigh, want.KLCoefficient, want.Temperature = 0.2, 0.28, 0.001, temperature
		got, ok := o.Of(lossSamples(), context, temperature)
		if !ok || got != want {
			t.Errorf("%s: %+v, %v, want %+v", aggregation, got, ok, want)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", aggregation, err)
		}
		if _, ok := o.Of(lossSamples()[3:], context, temperature); ok {
			t.Errorf("%s has a loss where nothing is trained", aggregation)
		}
	}
}

func TestObjectiveTellsEverything(t *testing.T) {
	err := Objective{Loss: kernels.Loss{Divisor: 3, DualClip: 0.5}, Aggregation: "mean"}.Validate()
	for _, want := range []string{"set for each minibatch", "negative advantages at 0.5", `aggregation "mean"`, "token-mean"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not tell %q", err, want)
		}
	}
}

func TestScheduleRate(t *testing.T) {
	cosine := Schedule{Warmup: 4, Cosine: true, Total: 12, Floor: 0.1}
	for _, c := range []struct {
		schedule Schedule
		step     int64
		want     float64
	}{
		{Schedule{}, 1, 2}, {Schedule{}, 1000, 2},
		{Schedule{Warmup: 4}, 1, 0.5}, {Schedule{Warmup: 4}, 3, 1.5}, {Schedule{Warmup: 4}, 4, 2}, {Schedule{Warmup: 4}, 9, 2},
		{cosine, 2, 1}, {cosine, 4, 2},
		{cosine, 8, 2 * (0.1 + 0.9/2)}, // half way down: cos(pi/2) = 0
		{cosine, 12, 0.2}, {cosine, 99, 0.2},
	} {
		if got := c.schedule.Rate(2, c.step); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v at step %d: %v, want %v", c.schedule, c.step, got, c.want)
		}
	}
}

func TestPack(t *testing.T) {
	for _, c := range []struct {
		lengths []int
		budget  int
		want    [][]int
	}{
		{nil, 10, nil},
		{[]int{4, 4, 4}, 8, [][]int{{0, 1}, {2}}},
		// 5 opens a second bin, 3 still fits the first, 6 needs a third
		{[]int{6, 5, 3, 6, 4}, 9, [][]int{{0, 2}, {1, 4}, {3}}},
		{[]int{99, 1}, 9, [][]int{{0}, {1}}}, // too long for any bin
	} {
		if got := pack(c.lengths, c.budget); !reflect.DeepEqual(got, c.want) {
			t.Errorf("pack(%v, %d) = %v, want %v", c.lengths, c.budget, got, c.want)
		}
	}
}

func TestMinibatches(t *testing.T) {
	all := make([]schemas.Sample, 5)
	for i := range all {
		all[i].Rollout = int32(i)
	}
	for n, want := range map[int][]int{1: {5}, 2: {2, 3}, 5: {1, 1, 1, 1, 1}, 8: {1, 1, 1, 1, 1}} {
		var sizes []int
		next := int32(0)
		for _, m := range minibatches(all, n) {
			sizes = append(sizes, len(m))
			for _, s := range m {
				if s.Rollout != next {
					t.Errorf("%d minibatches: sample %d where %d belongs", n, s.Rollout, next)
				}
				next++
			}
		}
		if !reflect.DeepEqual(sizes, want) || next != 5 {
			t.Errorf("%d minibatches have %v samples, want %v", n, sizes, want)
		}
	}
}

// TestMicroBatchesDoNotShow: the budget cuts the work, not the gradient. The sum
// over sequences is taken in another order, so the weights agree to rounding.
func TestMicroBatchesDoNotShow(t *testing.T) {
	log := testLog(t, 1)
	weights := func(budget int) []kernels.Tensor {
		o := undisturbed(t, func(c *Config) { c.MicroBatchTokens = budget }, log)
		if n, _ := metric(o.updates[1], "training/microbatches"); (n > 1) != (budget == 1) {
			t.Errorf("budget %d ran %v micro-batches", budget, n)
		}
		return tensorsOf(t, o.learner.parts.Trainer)
	}
	one, many := weights(1<<20), weights(1)
	moved := 0.0
	initial := tensorsOf(t, tinyTrainer(t))
	for i := range one {
		for j := range one[i].Data {
			// Adam's first step moves a weight by the rate times a sign, so where a
			// gradient is not near 0 its rounding cannot show.
			d := math.Abs(float64(one[i].Data[j] - many[i].Data[j]))
			if d > 2e-6 {
				t.Fatalf("%s[%d] is %v in one micro-batch, %v in many", one[i].Name, j, one[i].Data[j], many[i].Data[j])
			}
			moved = max(moved, math.Abs(float64(one[i].Data[j]-initial[i].Data[j])))
		}
	}
	if moved < 5e-5 {
		t.Errorf("no weight moved by more than %v at rate 1e-4", moved)
	}
}

// TestReferenceIsAsked: a KL term needs the first policy, and moves the
// weights once the policy has left it.
func TestReferenceIsAsked(t *testing.T) {
	grpo := Objective{Loss: kernels.Loss{ClipLow: 0.2, ClipHigh: 0.2, KLCoefficient: 0.001}, Aggregation: SequenceMean}
	config := tinyConfig(t, t.TempDir())
	config.Objective = grpo
	if _, err := Open(config, Parts{Trainer: tinyTrainer(t)}); err == nil || !strings.Contains(err.Error(), "reference") {
		t.Errorf("a KL term without a reference: %v", err)
	}
	run := func(coefficient float64) *outcome {
		return undisturbed(t, func(c *Config) { c.Objective = grpo; c.Objective.Loss.KLCoefficient = coefficient }, testLog(t, 2))
	}
	if string(run(0).weights) == string(run(100).weights) {
		t.Error("the KL coefficient changes nothing")
	}
}
