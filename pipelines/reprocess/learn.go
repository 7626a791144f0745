package reprocess

import (
	"context"
	"errors"
	"fmt"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/learn"
)

// Learn takes the samples that a topic holds through a learner, from the learner's
// positions on, and writes its updates to the ledger topic. It returns when the last
// sample was read.
func Learn(ctx context.Context, start stage.Start, s stage.Stream, l *learn.Learner) error {
	forget, err := learn.Register(s.Job, l)
	if err != nil {
		return err
	}
	defer forget()
	job, err := start(ctx, s.Job, stage.LearnHeld(s, l.Positions()))
	if err != nil {
		return err
	}
	select {
	case <-job.Done():
		return job.Wait()
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), job.Cancel())
	}
}

// Consumed are the groups of the steps from+1 to to of a ledger, in the order of the
// steps; to may be beyond the last.
func Consumed(ledger []schemas.Update, from, to int64) []string {
	var groups []string
	for _, u := range ledger {
		if u.Step > from && u.Step <= to {
			groups = append(groups, u.GroupIDs...)
		}
	}
	return groups
}

// EqualSteps counts the steps behind from that have in both ledgers the same weights,
// and returns the first that has others, 0 if none has.
func EqualSteps(a, b []schemas.Update, from int64) (equal, first int64) {
	digests := map[int64]string{}
	for _, u := range a {
		digests[u.Step] = u.WeightsDigest
	}
	for _, u := range b {
		digest, both := digests[u.Step]
		switch {
		case u.Step <= from || !both:
		case digest == u.WeightsDigest:
			equal++
		case first == 0:
			first = u.Step
		}
	}
	return equal, first
}

// CheckReplay is an error unless steps that were replayed with the original settings
// have the weights of the original's ledger.
func CheckReplay(original, replayed []schemas.Update, from, to int64) error {
	var until []schemas.Update
	for _, u := range replayed {
		if u.Step <= to {
			until = append(until, u)
		}
	}
	equal, first := EqualSteps(original, until, from)
	if first != 0 {
		return fmt.Errorf("replaying step %d with the original settings gave other weights than the ledger tells: another build or machine, or a log that is not whole", first)
	}
	if equal != to-from {
		return fmt.Errorf("replaying steps %d to %d with the original settings took %d of them: the log is not whole", from+1, to, equal)
	}
	return nil
}
