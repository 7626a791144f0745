package chaos

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"millrace/pipelines/journal"
	"millrace/pipelines/ledger"
	"millrace/pipelines/stage"
	"millrace/pipelines/topics"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
	"millrace/transforms/learn"
)

// Result is what a campaign came to.
type Result struct {
	Kills int
	// Lost are records that entered a stage and did not leave it; Duplicated are
	// samples that entered a second step.
	Lost, Duplicated int
	// Problems are what does not balance or differs, in words.
	Problems []string
	// WeightsDiffer says that the steps of the campaign are not those of a replay
	// or of the run without faults.
	WeightsDiffer bool
	// Balances are the stages' books.
	Balances []ledger.Balance
	// Lags say how much each stage would read again if it were started again.
	Lags topics.Lags
	// Letters counts dead letters by stage and reason.
	Letters map[string]int
	// Recoveries are how long the learner took from a kill to its next step, less
	// loading the checkpoint, sorted; of those kills that no other fault came into.
	Recoveries []time.Duration
	// Exits say which roles ended by themselves, and why.
	Exits []string
	// digests are the weights of each step.
	digests []string
}

// Sound says that nothing was lost, nothing came twice and the weights are equal.
func (r Result) Sound() bool {
	return r.Lost == 0 && r.Duplicated == 0 && !r.WeightsDiffer && len(r.Problems) == 0
}

// String is the campaign in one line.
func (r Result) String() string {
	weights := "equal"
	if r.WeightsDiffer {
		weights = "differ"
	}
	return fmt.Sprintf("kills %d lost %d duplicated %d weights %s", r.Kills, r.Lost, r.Duplicated, weights)
}

// settleTimeout is how long the stages may take to commit what they have done.
const settleTimeout = time.Minute

// audit asks the ledger of the run, once all that can leave has left.
func (c *campaign) audit(ctx context.Context, r *Result) error {
	dir := checkpoints(c.Dir)
	for until := time.Now().Add(settleTimeout); ; {
		log, err := ledger.Read(ctx, c.broker, run, dir)
		if err != nil {
			return err
		}
		r.Balances = log.Audit()
		pending := 0
		for _, b := range r.Balances {
			pending += b.Pending
		}
		if pending == 0 || time.Now().After(until) {
			break
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	for _, stage := range ledger.Stages() {
		if !slices.ContainsFunc(r.Balances, func(b ledger.Balance) bool { return b.Stage == stage }) {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: nothing was ever written to its topic", stage))
		}
	}
	for _, b := range r.Balances {
		r.Lost += b.In - b.Out - b.Dead - b.Pending
		if b.Pending > 0 {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: %d records are still pending", b.Stage, b.Pending))
		}
		for _, p := range b.Problems {
			r.Problems = append(r.Problems, b.Stage+": "+p)
		}
	}
	committed, err := learn.ReadCommitted(dir)
	if err != nil {
		return err
	}
	entered := map[string]bool{}
	for _, u := range committed.Updates {
		r.digests = append(r.digests, u.WeightsDigest)
		for _, id := range u.SampleIDs {
			if entered[id] {
				r.Duplicated++
			}
			entered[id] = true
		}
		if n := len(u.SampleIDs); n != groups*rollouts {
			r.Problems = append(r.Problems, fmt.Sprintf("step %d has %d samples, not %d", u.Step, n, groups*rollouts))
		}
	}
	if r.Lags, err = topics.Lag(ctx, c.broker, run); err != nil {
		return err
	}
	if err := c.auditJournal(r); err != nil {
		return err
	}
	if err := c.countLetters(ctx, r); err != nil {
		return err
	}
	return c.replay(ctx, r, committed.Updates)
}

// auditJournal asks whether each step is in the journal.
func (c *campaign) auditJournal(r *Result) error {
	recorded, err := journal.Read(roleDir(c.Dir, feederRole))
	if err != nil {
		return err
	}
	if len(recorded.Steps) != len(r.digests) {
		r.Problems = append(r.Problems, fmt.Sprintf("the journal has %d of %d steps", len(recorded.Steps), len(r.digests)))
	}
	return nil
}

func (c *campaign) countLetters(ctx context.Context, r *Result) error {
	records, err := recordsOf(ctx, c.broker, stage.TopicsOf(run).DeadLetters)
	if err != nil {
		return err
	}
	r.Letters = map[string]int{}
	seen := map[string]bool{}
	for _, record := range records {
		letters, err := schemas.DeadLetters.Decode(record.Value)
		if err != nil {
			return err
		}
		for _, d := range letters {
			if !seen[d.ID] {
				r.Letters[d.Stage+" "+string(d.Reason)]++
			}
			seen[d.ID] = true
		}
	}
	return nil
}

// replayDir holds the checkpoints of the replay.
const replayDir = "replay"

// replay reads the samples topic through a fresh learner, and compares its steps.
func (c *campaign) replay(ctx context.Context, r *Result, want []schemas.Update) error {
	trainer, err := newTrainer(c.Seed)
	if err != nil {
		return err
	}
	defer trainer.Close()
	l, err := learn.Open(learner(filepath.Join(c.Dir, replayDir)), learn.Parts{Trainer: trainer})
	if err != nil {
		return err
	}
	var got []schemas.Update
	err = kafkaio.Scan(ctx, c.broker, stage.TopicsOf(run).Samples, &kafkaio.Latest, func(record kafkaio.Record) error {
		updates, _, err := l.Consume(ctx, record.Key, record.Value, record.Source)
		got = append(got, updates...)
		return err
	})
	if err != nil {
		return fmt.Errorf("replaying the samples: %w", err)
	}
	if len(got) != len(want) {
		r.WeightsDiffer = true
		r.Problems = append(r.Problems, fmt.Sprintf("a replay of the samples takes %d steps, the campaign took %d", len(got), len(want)))
		return nil
	}
	for i, u := range got {
		switch {
		case !slices.Equal(u.SampleIDs, want[i].SampleIDs):
			r.Problems = append(r.Problems, fmt.Sprintf("step %d is made of other samples in a replay", u.Step))
		case u.WeightsDigest != want[i].WeightsDigest:
			r.WeightsDiffer = true
			r.Problems = append(r.Problems, fmt.Sprintf("step %d has other weights in a replay", u.Step))
			return nil
		}
	}
	return nil
}

// compare compares the steps with those of a run without faults.
func (r *Result) compare(undisturbed Result) {
	for _, p := range undisturbed.Problems {
		r.Problems = append(r.Problems, "without faults: "+p)
	}
	for i := range r.digests {
		if i >= len(undisturbed.digests) || r.digests[i] != undisturbed.digests[i] {
			r.WeightsDiffer = true
			r.Problems = append(r.Problems, fmt.Sprintf("step %d has other weights in a run without faults", i+1))
			return
		}
	}
}

// Report says in a few lines what was counted.
func (r Result) Report() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STAGE\tIN\tOUT\tDEAD-LETTERED\tPENDING\tREAD AGAIN AFTER A RESTART")
	for _, balance := range r.Balances {
		again := int64(0)
		for _, l := range r.Lags.Stages {
			if l.Stage == balance.Stage {
				again += l.Lag
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", balance.Stage, balance.In, balance.Out, balance.Dead, balance.Pending, again)
	}
	w.Flush() // into memory
	for _, what := range slices.Sorted(maps.Keys(r.Letters)) {
		fmt.Fprintf(&b, "dead letters %s: %d\n", what, r.Letters[what])
	}
	for _, e := range r.Exits {
		fmt.Fprintln(&b, e)
	}
	if n := len(r.Recoveries); n > 0 {
		fmt.Fprintf(&b, "recovery, from the learner's kill to its next step less loading: median %.2f s, longest %.2f s of %d\n",
			r.Recoveries[n/2].Seconds(), r.Recoveries[n-1].Seconds(), n)
	}
	for _, p := range r.Problems {
		fmt.Fprintln(&b, "PROBLEM:", p)
	}
	return b.String()
}
