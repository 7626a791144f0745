package learn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"millrace/schemas"
)

// TestDynamicSamplingNeverWaits plays feed and rollouts against a batcher: orders of
// an iteration as the staleness bound admits them, one more for each group that is
// replaced, groups that complete in any order, and many in which nothing weighs.
//
// Every step is reached; no iteration orders more than MaxDraws times the groups of a
// step; and a step that lacks groups that weigh stands behind an iteration that was
// allowed no more.
func TestDynamicSamplingNeverWaits(t *testing.T) {
	const steps, perStep, maxDraws = 30, 3, 3
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 5))
		staleness := int64(seed % 4)
		barren := random.Float64() // of groups, in which nothing weighs
		b := newBatcher(perStep, staleness, maxDraws, newLedger())
		var running []schemas.Sample // one a group
		ordered := map[int64]int{}
		order := func(iteration int64, upTo int) {
			for ; ordered[iteration] < upTo; ordered[iteration]++ {
				id := fmt.Sprintf("%d/%d", iteration, ordered[iteration])
				s := testSample(id+"#0", id, iteration, 1, int32(b.ledger.Step()))
				if random.Float64() < barren {
					s.GroupWeighing, s.Weight, s.Excluded = 0, 0, schemas.EqualRewards
				}
				running = append(running, s)
			}
		}
		weighing := 0
		for next, offset := int64(0), int64(0); b.ledger.Step() < steps; offset++ {
			for ; next < steps && next <= b.ledger.Step()+staleness; next++ {
				order(next, perStep)
			}
			for iteration, n := range b.Replaced() {
				order(iteration, perStep+n)
			}
			if len(running) == 0 {
				t.Fatalf("seed %d: step %d waits for groups that nobody ordered", seed, b.ledger.Step()+1)
			}
			i := random.IntN(len(running))
			s := running[i]
			running = slices.Delete(running, i, i+1)
			b.Add(s, schemas.Position{Topic: "samples", Offset: offset}, "", 0)
			for {
				batch, ok := b.Next()
				if !ok {
					break
				}
				u := schemas.Update{Step: batch.Version + 1, GroupIDs: batch.GroupIDs}
				in := 0
				for _, s := range batch.Samples {
					u.SampleIDs = append(u.SampleIDs, s.ID)
					if s.Weight == 1 {
						in++
					}
				}
				for _, d := range batch.Dropped { // too old by the time
					if d.Sample.Weight == 1 {
						in++
					}
					u.DroppedIDs = append(u.DroppedIDs, d.Sample.ID)
				}
				weighing += in
				if in > perStep || len(batch.GroupIDs)-batch.Replaced != perStep {
					t.Fatalf("seed %d: step %d has %d groups that weigh, of %d of which %d were replaced", seed, u.Step, in, len(batch.GroupIDs), batch.Replaced)
				}
				if err := b.ledger.add(u); err != nil {
					t.Fatal(err)
				}
			}
		}
		capped := 0
		for iteration, n := range ordered {
			if n > perStep*maxDraws {
				t.Errorf("seed %d: %d groups were ordered for iteration %d", seed, n, iteration)
			}
			if n == perStep*maxDraws {
				capped++
			}
		}
		if weighing < perStep*(steps-capped) {
			t.Errorf("seed %d: %d groups weighed in %d steps, of which %d met the cap", seed, weighing, steps, capped)
		}
		if len(b.places.open) != 0 || len(b.queue) != 0 {
			t.Errorf("seed %d: behind the last step %d iterations and %d groups are open", seed, len(b.places.open), len(b.queue))
		}
	}
}

// TestDynamicSamplingResumes (invariants 2 and 5): a learner that is opened anew
// behind every record takes the steps of one that lives on, to the bit, and asks for
// the same replacements.
func TestDynamicSamplingResumes(t *testing.T) {
	for _, staleness := range []int64{0, 2} {
		var log []record
		random := rand.New(rand.NewPCG(11, uint64(staleness)))
		for iteration := range int64(4) {
			for g := range 5 + int(iteration%2) { // the first and third are replaced
				for rollout := range 2 {
					s := randomSample(random, fmt.Sprintf("run/%d/%d", iteration, g), rollout, iteration)
					s.GroupMembers, s.GroupWeighing, s.GroupSize = 2, 2, 2
					if g == 0 || g == 2 || iteration == 1 && g > 3 { // of iteration 1, the last is one too many
						s.GroupWeighing, s.Weight, s.Advantage, s.Excluded = 0, 0, 0, schemas.EqualRewards
					}
					log = append(log, record{[]byte(s.GroupID), encode(t, s)})
				}
			}
		}
		change := func(c *Config) { c.GroupsPerStep, c.MaxDraws, c.MaxStaleness = 3, 2, staleness }
		want := undisturbed(t, change, log)
		if len(want.updates) != 4 {
			t.Fatalf("staleness %d: %d steps", staleness, len(want.updates))
		}
		if n, ok := metric(want.updates[1], "training/groups_replaced"); !ok || n != 2 {
			t.Errorf("staleness %d: step 1 tells %v replaced groups", staleness, n)
		}

		config := tinyConfig(t, t.TempDir())
		change(&config)
		got := newOutcome()
		for range len(log) + 1 {
			l, err := Open(config, Parts{Trainer: tinyTrainer(t)})
			if err != nil {
				t.Fatal(err)
			}
			got.deliver(l.Pending())
			from := int64(0)
			if at := l.Positions(); len(at) > 0 {
				from = at[0].Offset
			}
			// Read on until one step more is taken, then die.
			for at := from; at < int64(len(log)) && l.Version() == int64(len(got.updates)); at++ {
				updates, letters, err := l.Consume(context.Background(), log[at].key, log[at].value, schemas.Position{Topic: "samples", Offset: at})
				if err != nil {
					t.Fatal(err)
				}
				got.deliver(updates, letters)
			}
		}
		if len(got.updates) != len(want.updates) {
			t.Fatalf("staleness %d: %d steps, undisturbed %d", staleness, len(got.updates), len(want.updates))
		}
		for step, u := range want.updates {
			if !sameUpdate(got.updates[step], u) {
				t.Errorf("staleness %d: step %d differs:\n%v\nundisturbed\n%v", staleness, step, got.updates[step].SampleIDs, u.SampleIDs)
			}
		}
	}
}
