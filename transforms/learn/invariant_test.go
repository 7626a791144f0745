package learn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/kernels"
	"millrace/schemas"
)

// TestEachSampleEntersExactlyOneStep is invariant 2 without crashes: the log
// repeats records, the ledger does not repeat samples.
func TestEachSampleEntersExactlyOneStep(t *testing.T) {
	log := testLog(t, 4)
	o := undisturbed(t, nil, log)
	if len(o.updates) != 4 {
		t.Fatalf("the log of 4 iterations gave %d steps", len(o.updates))
	}
	where := map[string]int64{}
	for step, u := range o.updates {
		for _, id := range slices.Concat(u.SampleIDs, u.DroppedIDs) {
			if other, twice := where[id]; twice {
				t.Errorf("sample %s is in steps %d and %d", id, other, step)
			}
			where[id] = step
			if got, ok := o.learner.SampleStep(id); !ok || got != step {
				t.Errorf("the ledger has sample %s in step %d, %v; the update of step %d has it", id, got, ok, step)
			}
		}
	}
	// 4 iterations x 2 groups x 3 samples, one of which could not be read.
	if len(where) != 4*2*3-1 {
		t.Errorf("%d samples went to a step", len(where))
	}
}

type crash struct{ point string }

// TestKilledAnywhereResumesToTheSameWeights is invariants 2 and 5: a learner is
// killed behind every write of a chosen step (0 is the first checkpoint), or
// while it publishes, and a new one resumes. Weights, ledger, dead letters and
// batches are those of an undisturbed run, to the bit.
func TestKilledAnywhereResumesToTheSameWeights(t *testing.T) {
	log := testLog(t, 4)
	want := undisturbed(t, nil, log)
	for _, point := range append(slices.Clone(WritePoints), "publish") {
		for _, step := range []int{0, 3} {
			if step == 0 && point == "prune" {
				continue // nothing to remove yet
			}
			t.Run(fmt.Sprintf("%s of step %d", point, step), func(t *testing.T) {
				config := tinyConfig(t, t.TempDir())
				seen, killed := 0, false
				reached := func(at string) error {
					if at != point {
						return nil
					}
					if seen++; !killed && (seen == step+1 || (point == "prune" && seen == step)) {
						killed = true
						panic(crash{at})
					}
					return nil
				}
				publish := func(context.Context, int64, kernels.Weights, string) error { return reached("publish") }
				o := newOutcome()
				life := func() (err error) {
					defer func() {
						if p := recover(); p != nil {
							err = errors.New(p.(crash).point)
						}
					}()
					return o.play(t, config, Parts{Trainer: tinyTrainer(t), Publish: publish}, log, reached)
				}
				if err := life(); err == nil {
					t.Fatalf("no crash at %s", point)
				}
				if err := life(); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(o.weights, want.weights) {
					t.Error("the weights differ from those of the undisturbed run")
				}
				if !maps.EqualFunc(o.updates, want.updates, sameUpdate) {
					t.Error("the ledger differs from that of the undisturbed run")
				}
				if !maps.EqualFunc(o.letters, want.letters, sameLetter) {
					t.Errorf("dead letters are %v\nundisturbed %v", slices.Sorted(maps.Keys(o.letters)), slices.Sorted(maps.Keys(want.letters)))
				}
			})
		}
	}
}

// sameUpdate leaves positions out: when one record completes two batches, a
// learner that resumes between them reads on from the first, and makes the
// second before it comes to that record.
func sameUpdate(a, b schemas.Update) bool {
	return a.Step == b.Step && slices.Equal(a.SampleIDs, b.SampleIDs) && slices.Equal(a.DroppedIDs, b.DroppedIDs) &&
		slices.Equal(a.GroupIDs, b.GroupIDs) && a.WeightsDigest == b.WeightsDigest
}

func sameLetter(a, b schemas.DeadLetter) bool {
	return a.Reason == b.Reason && a.RecordID == b.RecordID && a.Source == b.Source &&
		bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Payload, b.Payload)
}

// TestReplayIsDeterministic is invariant 5: the same log gives the same weights,
// and without staleness the order of the records does not matter either.
func TestReplayIsDeterministic(t *testing.T) {
	log := testLog(t, 3)
	first := undisturbed(t, nil, log)
	if again := undisturbed(t, nil, log); !bytes.Equal(first.weights, again.weights) {
		t.Error("the same log gave other weights")
	}
	if len(first.updates) != 3 {
		t.Fatalf("%d steps", len(first.updates))
	}
	// Read backwards all records of the last iteration come first.
	backwards := slices.Clone(log)
	slices.Reverse(backwards)
	if o := undisturbed(t, nil, backwards); !bytes.Equal(first.weights, o.weights) {
		t.Error("the log backwards gave other weights")
	}
}

// TestNothingVanishes is invariant 6: each row read is in a step, in a dead
// letter, repeated or held, and the counters add up after every record.
func TestNothingVanishes(t *testing.T) {
	log := testLog(t, 4)
	log = log[:len(log)-2] // the last groups stay open
	for _, bound := range []int64{0, 1} {
		o := undisturbed(t, func(c *Config) { c.MaxStaleness = bound }, log)
		c := o.learner.Counts()
		if c.Read != int64(len(log)) || c.Read != c.Consumed+c.Dropped+c.Repeated+c.Held {
			t.Errorf("staleness %d: of %d records, counts are %+v", bound, len(log), c)
		}
		if c.Consumed == 0 || c.Dropped == 0 || c.Repeated == 0 || c.Held == 0 {
			t.Errorf("staleness %d: the log does not show every fate: %+v", bound, c)
		}
		if int64(len(o.letters)) != c.Dropped {
			t.Errorf("staleness %d: %d dead letters, %d rows dropped", bound, len(o.letters), c.Dropped)
		}
	}
}

// TestStaleSampleIsNotTrained: a sample with a token older than the bound leaves
// as a dead letter that can be decoded again, and is counted.
func TestStaleSampleIsNotTrained(t *testing.T) {
	old := "run/1/b#1.0"
	for bound, trained := range map[int64]bool{0: false, 3: true} {
		o := undisturbed(t, func(c *Config) { c.MaxStaleness = bound }, testLog(t, 4))
		step, _ := o.learner.SampleStep(old)
		u := o.updates[step]
		if slices.Contains(u.SampleIDs, old) != trained || slices.Contains(u.DroppedIDs, old) == trained {
			t.Errorf("bound %d: step %d has samples %v, dropped %v", bound, step, u.SampleIDs, u.DroppedIDs)
		}
		if trained {
			continue
		}
		if n, ok := metric(u, "staleness/dropped"); !ok || n != 1 {
			t.Errorf("staleness/dropped is %v", n)
		}
		found := false
		for _, d := range o.letters {
			if d.RecordID == old && d.Reason == schemas.Stale {
				rows, err := schemas.Samples.Decode(d.Payload)
				found = err == nil && rows[0].ID == old
			}
		}
		if !found {
			t.Error("no dead letter holds the sample")
		}
	}
}

// TestFilteredTrajectoryDoesNotWeigh is invariant 7: whatever a sample of weight
// 0 holds, the weights are the same to the bit, and its absence changes nothing
// but the group's size. Under ConstantPublished it stays in the denominator.
func TestFilteredTrajectoryDoesNotWeigh(t *testing.T) {
	run := func(aggregation Aggregation, change func(*schemas.Sample) (present bool)) []byte {
		random := rand.New(rand.NewPCG(3, 4))
		var log []record
		for rollout := range 3 {
			s := randomSample(random, "run/0/a", rollout, 0)
			if rollout == 1 {
				s.Weight, s.Excluded, s.Termination = 0, string(schemas.ContextFull), schemas.ContextFull
				if !change(&s) {
					continue
				}
			}
			s.GroupMembers, s.GroupWeighing = 3, 2
			if !change(&schemas.Sample{}) {
				s.GroupMembers = 2
			}
			log = append(log, record{[]byte(s.GroupID), encode(t, s)})
		}
		o := undisturbed(t, func(c *Config) { c.GroupsPerStep, c.Objective.Aggregation = 1, aggregation }, log)
		if len(o.updates) != 1 {
			t.Fatalf("%d steps", len(o.updates))
		}
		return o.weights
	}
	present := func(*schemas.Sample) bool { return true }
	absent := func(*schemas.Sample) bool { return false }
	other := func(s *schemas.Sample) bool {
		s.Reward, s.Advantage = 1e6, -1e6
		for i, m := range s.LossMask {
			if m {
				s.LogProbs[i], s.Tokens[i] = -50, 15
			}
		}
		return true
	}
	for _, aggregation := range Aggregations() {
		aggregation := Aggregation(aggregation)
		want := run(aggregation, present)
		if !bytes.Equal(want, run(aggregation, other)) {
			t.Errorf("%s: the content of a filtered sample changed the weights", aggregation)
		}
		if same := bytes.Equal(want, run(aggregation, absent)); same != (aggregation != ConstantPublished) {
			t.Errorf("%s: weights with and without a filtered sample are equal: %v", aggregation, same)
		}
	}
}
