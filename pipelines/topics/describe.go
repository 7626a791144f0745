package topics

import (
	"context"
	"fmt"
	"io"

	"millrace/transforms/kafkaio"
)

// Description is all that is known of one topic.
type Description struct {
	kafkaio.Topic
	// Positions are what consumer groups have committed in the topic, by group and
	// partition.
	Positions []Position `json:"positions"`
}

// Position is how far a group has read one partition.
type Position struct {
	Group     string `json:"group"`
	Partition int32  `json:"partition"`
	// Committed is the next offset to read.
	Committed int64 `json:"committed"`
	// Lag is the number of offsets from there to the end of the log.
	Lag int64 `json:"lag"`
}

// Describe asks for one topic and for every group that reads it.
func Describe(ctx context.Context, brokers, topic string) (Description, error) {
	found, err := kafkaio.Topics(ctx, brokers, func(name string) bool { return name == topic })
	if err != nil {
		return Description{}, err
	}
	if len(found) == 0 {
		return Description{}, fmt.Errorf("kafka %s: topic %s: %w", brokers, topic, kafkaio.ErrTopicMissing)
	}
	d := Description{Topic: found[0], Positions: []Position{}}
	groups, err := kafkaio.Groups(ctx, brokers)
	if err != nil {
		return Description{}, err
	}
	ends := make(map[int32]int64)
	for _, p := range d.Partitions {
		ends[p.ID] = p.Last
	}
	for _, group := range groups {
		commits, err := kafkaio.Commits(ctx, brokers, group)
		if err != nil {
			return Description{}, err
		}
		for _, c := range commits {
			if c.Topic == topic {
				d.Positions = append(d.Positions, Position{group, c.Partition, c.Offset, max(ends[c.Partition]-c.Offset, 0)})
			}
		}
	}
	return d, nil
}

// WriteTable writes the partitions, the settings and the groups.
func (d Description) WriteTable(out io.Writer) error {
	w := table(out)
	fmt.Fprintf(w, "%s: %d records, bytes on disk: %s\n\n", d.Name, d.Records(), size(d.Bytes()))
	fmt.Fprintln(w, "PARTITION\tFIRST\tEND\tRECORDS\tREPLICAS\tIN SYNC\tBYTES")
	for _, p := range d.Partitions {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%s\n", p.ID, p.First, p.Last, p.Last-p.First, p.Replicas, p.InSync, size(p.Bytes))
	}
	if len(d.Settings) > 0 {
		fmt.Fprintln(w, "\nSETTING\tVALUE\tFROM")
		for _, s := range d.Settings {
			from := "broker"
			if s.Own {
				from = "topic"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Value, from)
		}
	}
	if len(d.Positions) > 0 {
		fmt.Fprintln(w, "\nGROUP\tPARTITION\tCOMMITTED\tLAG")
		for _, p := range d.Positions {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", p.Group, p.Partition, p.Committed, p.Lag)
		}
	}
	return w.Flush()
}
