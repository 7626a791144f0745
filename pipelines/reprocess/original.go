package reprocess

import (
	"context"
	"errors"
	"maps"
	"math"

	"golang.org/x/sync/errgroup"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export"
	"millrace/schemas"
	"millrace/transforms/advantage"
	"millrace/transforms/kafkaio"
)

// Originals are what became of the trajectories the first time, by id: what the
// report compares with. About 100 bytes a sample are held.
type Originals map[string]outcome

// outcome is what a report needs of a sample.
type outcome struct {
	advantage float64
	fate      string
	// digest identifies the whole sample but its run.
	digest uint64
}

// The fates of a sample. Behind masked and left out stands the reason.
const (
	kept    = "kept"
	masked  = "masked: "   // counts with reward 0, and no token of it is trained
	leftOut = "left out: " // neither in the loss nor in baseline and denominator
)

// outcomeOf leaves the run out: a data set has it in its path, where it is the name of
// the run that wrote it.
func outcomeOf(s schemas.Sample) (outcome, error) {
	s.Run = ""
	digest, err := advantage.Digest(s)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{advantage: s.Advantage, fate: kept, digest: digest}
	switch {
	case s.Weight == 0:
		o.fate = leftOut + s.Excluded
	case !trains(s):
		o.fate = masked + string(s.Termination)
	}
	return o, nil
}

func trains(s schemas.Sample) bool {
	for _, m := range s.LossMask {
		if m {
			return true
		}
	}
	return false
}

// teaches tells whether a sample moves the weights.
func (o outcome) teaches() bool { return o.fate == kept && math.Abs(o.advantage) > 0 }

// add keeps the first sample of an id: the learner drops what comes later.
func (o Originals) add(s schemas.Sample) error {
	if _, twice := o[s.ID]; twice {
		return nil
	}
	out, err := outcomeOf(s)
	if err != nil {
		return err
	}
	o[s.ID] = out
	return nil
}

// OriginalsOfTopic reads a topic of samples. A topic that is not there, or records
// that cannot be decoded, leave the report with less to compare.
func OriginalsOfTopic(ctx context.Context, brokers, topic string) (Originals, error) {
	ranges, err := kafkaio.Ranges(ctx, brokers, topic)
	if errors.Is(err, kafkaio.ErrTopicMissing) {
		return Originals{}, nil
	}
	if err != nil {
		return nil, err
	}
	parts := make([]Originals, len(ranges))
	readers, ctx := errgroup.WithContext(ctx)
	for i, r := range ranges {
		parts[i] = Originals{}
		readers.Go(func() error {
			return kafkaio.ReadRange(ctx, brokers, r, func(record kafkaio.Record) error {
				samples, err := schemas.Samples.Decode(record.Value)
				if err != nil {
					return nil // the learner has made a dead letter of it
				}
				for _, s := range samples {
					if err := parts[i].add(s); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	if err := readers.Wait(); err != nil {
		return nil, err
	}
	all := Originals{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all, nil
}

// OriginalsOfParquet reads the data set "samples" of a run, which may be missing.
func OriginalsOfParquet(ctx context.Context, dir, run string) (Originals, error) {
	files, err := dataset.Find(dir, export.Samples)
	if err != nil {
		return nil, err
	}
	all := Originals{}
	for _, f := range files {
		if f.Run != run {
			continue
		}
		if err := dataset.Read(ctx, f, schemas.Samples, all.add); err != nil {
			return nil, err
		}
	}
	return all, nil
}
