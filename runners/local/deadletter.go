package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"millrace/pipelines/deadletter"
	"millrace/pipelines/stage"
	"millrace/pipelines/train"
)

// DeadLetters runs "millrace deadletter list DIR".
func DeadLetters(ctx context.Context, dir, output string, out io.Writer) error {
	return withLetters(ctx, dir, func(_ string, letters []deadletter.Letter) error {
		return table(output, out, []string{"id", "stage", "reason", "record", "time", "redriven", "message"}, letters, func(l deadletter.Letter) []any {
			return []any{l.ID, l.Stage, string(l.Reason), l.RecordID, letterTime(l), yes(l.Redriven), l.Message}
		})
	})
}

// DeadLetter runs "millrace deadletter show DIR ID".
func DeadLetter(ctx context.Context, dir, id string, out io.Writer) error {
	return withLetters(ctx, dir, func(_ string, letters []deadletter.Letter) error {
		l, err := deadletter.Find(letters, id)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "id        %q\nstage     %s\nreason    %s\nmessage   %q\nrecord    %q\nsource    %s[%d]@%d\nkey       %q\nattempts  %d\ntime      %s\nredriven  %s\npayload   %d bytes\n%s\n",
			l.ID, l.Stage, l.Reason, l.Message, l.RecordID, l.Source.Topic, l.Source.Partition, l.Source.Offset,
			l.Key, l.Attempts, letterTime(l), yes(l.Redriven), len(l.Payload), deadletter.Payload(l.Payload))
		return err
	})
}

// Redrive runs "millrace deadletter redrive DIR ID...": it puts the records of the
// letters back, or of all that were not put back before when no id is given and
// all is true. It stops at the first that cannot be.
func Redrive(ctx context.Context, dir string, ids []string, all, again bool, out io.Writer) error {
	if (len(ids) > 0) == all {
		return errors.New("name the dead letters to re-drive, or --all")
	}
	return withLetters(ctx, dir, func(brokers string, letters []deadletter.Letter) error {
		var chosen []deadletter.Letter
		for _, id := range ids {
			l, err := deadletter.Find(letters, id)
			if err != nil {
				return err
			}
			chosen = append(chosen, l)
		}
		for _, l := range letters {
			if all && (!l.Redriven || again) {
				chosen = append(chosen, l)
			}
		}
		for _, l := range chosen {
			if err := deadletter.Redrive(ctx, brokers, l, again); err != nil {
				return err
			}
			if _, err := fmt.Fprintf(out, "%s: back on %s\n", l.ID, l.Source.Topic); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(out, "%d records are back; millrace train --dir %s --resume processes them\n", len(chosen), dir)
		return err
	})
}

func withLetters(ctx context.Context, dir string, use func(brokers string, letters []deadletter.Letter) error) error {
	return stopped(ctx, dir, func(c train.Config, brokers string) error {
		letters, err := deadletter.Read(ctx, brokers, stage.TopicsOf(c.RunName()).DeadLetters)
		if err != nil {
			return err
		}
		return use(brokers, letters)
	})
}

func letterTime(l deadletter.Letter) string {
	if l.Time == 0 {
		return ""
	}
	return time.UnixMicro(l.Time).UTC().Format(time.RFC3339)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
