package topics

import (
	"context"
	"fmt"
	"io"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// Lags say how far the stages of a run have read.
type Lags struct {
	Run    string     `json:"run"`
	Stages []StageLag `json:"stages"` // by stage, upstream first, and partition
	// Total is the sum over stages and partitions.
	Total int64 `json:"total"`
}

// StageLag is one stage in one partition of the topic that it reads.
type StageLag struct {
	Stage     string `json:"stage"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Committed is the next offset to read after a restart; -1 when the stage has
	// committed nothing and would begin with the oldest record.
	Committed int64 `json:"committed"`
	// End is the next offset to be written.
	End int64 `json:"end"`
	// Lag is the number of offsets between the two.
	Lag int64 `json:"lag"`
}

// Lag asks how far the stages of a run have read: those that commit offsets by
// their groups, the learner by the ledger, since its positions are part of its
// checkpoint. A run without any topic is an error.
func Lag(ctx context.Context, brokers, run string) (Lags, error) {
	t := stage.TopicsOf(run)
	found, err := OfRun(ctx, brokers, run)
	if err != nil {
		return Lags{}, err
	}
	byName := make(map[string]kafkaio.Topic)
	for _, topic := range found {
		byName[topic.Name] = topic
	}
	lags := Lags{Run: run, Stages: []StageLag{}}
	for _, s := range []struct{ stage, topic string }{
		{"rollout", t.Tasks}, {"score", t.Trajectories}, {"advantage", t.Rewarded}, {"learn", t.Samples},
	} {
		topic, exists := byName[s.topic]
		if !exists {
			continue // an evaluation has no learner
		}
		var positions []schemas.Position
		if s.stage != "learn" {
			positions, err = kafkaio.Commits(ctx, brokers, run+"."+s.stage)
		} else if _, exists := byName[t.Ledger]; exists {
			positions, err = learned(ctx, brokers, t.Ledger)
		}
		if err != nil {
			return Lags{}, err
		}
		for _, l := range stageLags(s.stage, topic, positions) {
			lags.Stages = append(lags.Stages, l)
			lags.Total += l.Lag
		}
	}
	if len(lags.Stages) == 0 {
		return Lags{}, fmt.Errorf("kafka %s: run %s has no topics here", brokers, run)
	}
	return lags, nil
}

// stageLags compares a stage's positions with the ends of its topic.
func stageLags(name string, topic kafkaio.Topic, positions []schemas.Position) []StageLag {
	committed := make(map[int32]int64)
	for _, p := range positions {
		if p.Topic == topic.Name {
			committed[p.Partition] = p.Offset
		}
	}
	var lags []StageLag
	for _, p := range topic.Partitions {
		l := StageLag{Stage: name, Topic: topic.Name, Partition: p.ID, Committed: -1, End: p.Last, Lag: p.Last - p.First}
		if at, ok := committed[p.ID]; ok {
			l.Committed, l.Lag = at, max(p.Last-at, 0)
		}
		lags = append(lags, l)
	}
	return lags
}

// learned are the learner's positions after the last step in the ledger.
func learned(ctx context.Context, brokers, ledger string) ([]schemas.Position, error) {
	var last schemas.Update
	err := kafkaio.Scan(ctx, brokers, ledger, &kafkaio.Latest, func(r kafkaio.Record) error {
		updates, err := schemas.Updates.Decode(r.Value)
		if err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
		for _, u := range updates {
			if u.Step > last.Step {
				last = u
			}
		}
		return nil
	})
	return last.Positions, err
}

// WriteTable writes a line a stage and partition, and the total.
func (l Lags) WriteTable(out io.Writer) error {
	w := table(out)
	fmt.Fprintln(w, "STAGE\tTOPIC\tPARTITION\tCOMMITTED\tEND\tLAG")
	for _, s := range l.Stages {
		committed := "-"
		if s.Committed >= 0 {
			committed = fmt.Sprint(s.Committed)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\t%d\n", s.Stage, s.Topic, s.Partition, committed, s.End, s.Lag)
	}
	fmt.Fprintf(w, "total\t\t\t\t\t%d\n", l.Total)
	return w.Flush()
}
