package reprocess

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"millrace/pipelines/stage"
	"millrace/schemas"
	"millrace/transforms/kafkaio"
)

// TopicSource is a topic of rewarded trajectories, or a range of offsets of each of
// some of its partitions. The key of a record is its group, so a partition holds its
// groups whole; a range need not.
type TopicSource struct {
	brokers string
	ranges  []kafkaio.Range
	lanes   int
}

// OpenTopic looks at the topic. Without offsets all is read that it holds now. With
// offsets only the partitions that they name are read, and what the log does not hold
// is an error. At most lanes partitions are read at once.
func OpenTopic(ctx context.Context, brokers, topic string, offsets []Offsets, lanes int) (*TopicSource, error) {
	held, err := kafkaio.Ranges(ctx, brokers, topic)
	if err != nil {
		return nil, err
	}
	s := &TopicSource{brokers: brokers, ranges: held}
	if len(offsets) > 0 {
		if s.ranges, err = cut(held, offsets); err != nil {
			return nil, fmt.Errorf("topic %s: %w", topic, err)
		}
	}
	s.lanes = max(1, min(lanes, len(s.ranges)))
	return s, nil
}

// cut takes offsets from the ranges that a topic holds.
func cut(held []kafkaio.Range, offsets []Offsets) ([]kafkaio.Range, error) {
	byPartition := map[int32]kafkaio.Range{}
	for _, r := range held {
		byPartition[r.Partition] = r
	}
	var out []kafkaio.Range
	taken := map[int32]bool{}
	for _, o := range offsets {
		r, ok := byPartition[o.Partition]
		switch {
		case !ok:
			return nil, fmt.Errorf("offsets %s: there is no partition %d", o, o.Partition)
		case taken[o.Partition]:
			return nil, fmt.Errorf("offsets %s: partition %d is named twice", o, o.Partition)
		case o.Start < r.Start || o.End > r.End:
			return nil, fmt.Errorf("offsets %s: the log holds %d-%d", o, r.Start, r.End)
		}
		taken[o.Partition] = true
		r.Start, r.End = o.Start, o.End
		out = append(out, r)
	}
	return out, nil
}

// Lanes implements [Source].
func (s *TopicSource) Lanes() int { return s.lanes }

// Read implements [Source].
func (s *TopicSource) Read(ctx context.Context, lane int, visit Visitor) error {
	for i := lane; i < len(s.ranges); i += s.lanes {
		err := kafkaio.ReadRange(ctx, s.brokers, s.ranges[i], func(r kafkaio.Record) error {
			if visit.Wanted != nil && len(r.Key) > 0 && !visit.Wanted(string(r.Key)) {
				return nil
			}
			reward, err := schemas.Rewards.DecodeOne(r.Value)
			if err != nil {
				return visit.Broken(stage.Undecodable("advantage", r, err))
			}
			return visit.Reward(reward, r.Source)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Offsets are the records [Start, End) of one partition.
type Offsets struct {
	Partition  int32
	Start, End int64
}

// String is the text form, "0:100-200".
func (o Offsets) String() string { return fmt.Sprintf("%d:%d-%d", o.Partition, o.Start, o.End) }

var offsetsForm = regexp.MustCompile(`^([0-9]+):([0-9]+)-([0-9]+)$`)

// ParseOffsets reads the text form: partition, first offset, and the offset behind the
// last.
func ParseOffsets(text string) (Offsets, error) {
	refuse := func(problem string) (Offsets, error) {
		return Offsets{}, fmt.Errorf("offsets %q: %s; want PARTITION:FROM-TO, such as 0:100-200", text, problem)
	}
	parts := offsetsForm.FindStringSubmatch(text)
	if parts == nil {
		return refuse("not three numbers")
	}
	partition, err0 := strconv.ParseInt(parts[1], 10, 32)
	start, err1 := strconv.ParseInt(parts[2], 10, 64)
	end, err2 := strconv.ParseInt(parts[3], 10, 64)
	if errors.Join(err0, err1, err2) != nil {
		return refuse("a number is too large")
	}
	if end <= start {
		return refuse("the range is empty")
	}
	return Offsets{int32(partition), start, end}, nil
}
