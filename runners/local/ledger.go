package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"millrace/pipelines/ledger"
	"millrace/pipelines/train"
)

// LedgerSteps runs "millrace ledger show DIR": a line for each step.
func LedgerSteps(ctx context.Context, dir, output string, out io.Writer) error {
	return withLog(ctx, dir, func(log *ledger.Log) error {
		return table(output, out, []string{"step", "samples", "trained", "dropped", "groups", "reward", "config_hash", "code_version", "weights_digest"}, log.Steps(), func(s ledger.Step) []any {
			return []any{s.Number, s.Samples, s.Trained, s.Dropped, s.Groups, s.Reward, s.ConfigHash, s.CodeVersion, s.WeightsDigest}
		})
	})
}

// LedgerStep runs "millrace ledger show DIR --step N": a line for each trajectory
// that made the step.
func LedgerStep(ctx context.Context, dir string, step int64, output string, out io.Writer) error {
	return withLog(ctx, dir, func(log *ledger.Log) error {
		members, err := log.Members(step)
		if err != nil {
			return err
		}
		return table(output, out, []string{"trajectory", "task", "snapshot", "image_digest", "policy_version", "reward", "advantage", "excluded", "termination"}, members, func(m ledger.Member) []any {
			return []any{m.ID, m.Task, m.Snapshot, m.ImageDigest, m.Versions, m.Reward, m.Advantage, m.Excluded, string(m.Termination)}
		})
	})
}

// LedgerTrace runs "millrace ledger trace DIR TRAJECTORY".
func LedgerTrace(ctx context.Context, dir, id, output string, out io.Writer) error {
	return withLog(ctx, dir, func(log *ledger.Log) error {
		events, err := log.Trace(id)
		if err != nil {
			return err
		}
		return table(output, out, []string{"stage", "what", "record"}, events, func(e ledger.Event) []any { return []any{e.Stage, e.What, e.Source} })
	})
}

// LedgerAudit runs "millrace ledger audit DIR". Its error names the first
// imbalance.
func LedgerAudit(ctx context.Context, dir, output string, out io.Writer) error {
	return withLog(ctx, dir, func(log *ledger.Log) error {
		balances := log.Audit()
		err := table(output, out, []string{"stage", "in", "out", "dead_lettered", "pending", "problems"}, balances, func(b ledger.Balance) []any {
			return []any{b.Stage, b.In, b.Out, b.Dead, b.Pending, len(b.Problems)}
		})
		for _, b := range balances {
			if len(b.Problems) > 0 {
				return errors.Join(err, fmt.Errorf("%s does not balance, %d problems, the first: %s", b.Stage, len(b.Problems), b.Problems[0]))
			}
		}
		return err
	})
}

func withLog(ctx context.Context, dir string, use func(*ledger.Log) error) error {
	return stopped(ctx, dir, func(c train.Config, brokers string) error {
		log, err := ledger.Read(ctx, brokers, c.RunName(), filepath.Join(dir, "checkpoints"))
		if err != nil {
			return err
		}
		return use(log)
	})
}

// table writes rows in a form of the user's choice.
func table[R any](output string, out io.Writer, head []string, rows []R, cells func(R) []any) error {
	sink, err := sinkOf(output, out)
	if err != nil {
		return err
	}
	if err := sink.Head(head); err != nil {
		return err
	}
	for _, r := range rows {
		if err := sink.Row(cells(r)); err != nil {
			return err
		}
	}
	return sink.Close()
}
