// Package deadletter reads the dead letters of a run and puts their records back
// on the topics they came from.
//
// A record that is put back carries the id of its letter in the header
// [RedriveHeader]. The mark and the record are one write, so a letter is marked
// exactly when its record is back, whatever process or machine did it, and a
// second attempt finds it.
package deadletter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// RedriveHeader is the name of the header that marks a record that was put back;
// its value is the id of the letter.
const RedriveHeader = "redrive"

// Letter is a dead letter and whether its record was put back.
type Letter struct {
	schemas.DeadLetter
	Redriven bool
}

// Read returns the letters of a topic in the order of their times, each id once.
// A letter that cannot be decoded itself is an error.
//
// It reads the topics that the letters' records came from as well, for the marks.
func Read(ctx context.Context, brokers, topic string) ([]Letter, error) {
	var letters []Letter
	seen := map[string]bool{}
	err := kafkaio.Scan(ctx, brokers, topic, &kafkaio.Latest, func(r kafkaio.Record) error {
		rows, err := schemas.DeadLetters.Decode(r.Value)
		for _, d := range rows {
			if !seen[d.ID] {
				seen[d.ID] = true
				letters = append(letters, Letter{DeadLetter: d})
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading dead letters: %w", err)
	}
	sources := map[string]bool{}
	for _, l := range letters {
		if l.Source.Topic != "" {
			sources[l.Source.Topic] = true
		}
	}
	marked := map[string]bool{}
	for _, source := range slices.Sorted(maps.Keys(sources)) {
		err := kafkaio.Scan(ctx, brokers, source, &kafkaio.Latest, func(r kafkaio.Record) error {
			if id := header(r, RedriveHeader); id != "" {
				marked[id] = true
			}
			return nil
		})
		if err != nil && !errors.Is(err, kafkaio.ErrTopicMissing) {
			return nil, fmt.Errorf("looking for records that were put back: %w", err)
		}
	}
	for i := range letters {
		letters[i].Redriven = marked[letters[i].ID]
	}
	slices.SortStableFunc(letters, func(a, b Letter) int {
		if a.Time != b.Time {
			return int(min(max(a.Time-b.Time, -1), 1))
		}
		return strings.Compare(a.ID, b.ID)
	})
	return letters, nil
}

// Find returns the letter of an id. None is an error that says how many there
// are.
func Find(letters []Letter, id string) (Letter, error) {
	i := slices.IndexFunc(letters, func(l Letter) bool { return l.ID == id })
	if i < 0 {
		return Letter{}, fmt.Errorf("no dead letter %q among the %d of this run", id, len(letters))
	}
	return letters[i], nil
}

func header(r kafkaio.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return string(h.Value)
		}
	}
	return ""
}
