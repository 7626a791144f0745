package schemas

import (
	"fmt"
	"slices"
)

// Position is the next offset to read from one partition of a topic.
type Position struct {
	Topic     string
	Partition int32
	Offset    int64
}

// Metric is one named number.
type Metric struct {
	Name  string
	Value float64
}

// Update is one line of the ledger: what an optimizer step consumed and what it
// produced.
type Update struct {
	Run string
	// Step is the number of this step, from 1; it is also the policy version
	// that the step made.
	Step int64
	// SampleIDs are the samples that entered the step, sorted; those of weight 0
	// are among them.
	SampleIDs []string
	// DroppedIDs are the members of the step's groups that left as dead letters
	// instead (too old, unusable), sorted.
	DroppedIDs []string
	// GroupIDs are the groups that the step consumed, sorted. A sample of one of
	// them that comes later belongs to no step.
	GroupIDs []string
	// Positions are the learner's positions after the step.
	Positions []Position
	// ConfigHash identifies the resolved configuration.
	ConfigHash string
	// WeightsDigest is the SHA-256 of the weights file written by the step.
	WeightsDigest string
	Metrics       []Metric
	// Started and Finished are Unix times in microseconds.
	Started, Finished int64
	// CodeVersion names the code that took the step: the commit it was built from,
	// with "+modified" behind it where the working tree had changes. Empty where
	// the build did not know, and in version 1.
	CodeVersion string
}

// Updates is the codec of Update.
var Updates = newCodec("update", updateColumns, updateColumnsV2)

var positionColumns = []column[Position]{
	text("topic", func(p *Position) *string { return &p.Topic }),
	i32("partition", func(p *Position) *int32 { return &p.Partition }),
	i64("offset", func(p *Position) *int64 { return &p.Offset }),
}

var metricColumns = []column[Metric]{
	text("name", func(m *Metric) *string { return &m.Name }),
	f64("value", func(m *Metric) *float64 { return &m.Value }),
}

var updateColumns = []column[Update]{
	text("run", func(u *Update) *string { return &u.Run }),
	i64("step", func(u *Update) *int64 { return &u.Step }),
	texts("sample_ids", func(u *Update) *[]string { return &u.SampleIDs }),
	texts("dropped_ids", func(u *Update) *[]string { return &u.DroppedIDs }),
	texts("group_ids", func(u *Update) *[]string { return &u.GroupIDs }),
	structs("positions", func(u *Update) *[]Position { return &u.Positions }, positionColumns),
	text("config_hash", func(u *Update) *string { return &u.ConfigHash }),
	text("weights_digest", func(u *Update) *string { return &u.WeightsDigest }),
	structs("metrics", func(u *Update) *[]Metric { return &u.Metrics }, metricColumns),
	i64("started_us", func(u *Update) *int64 { return &u.Started }),
	i64("finished_us", func(u *Update) *int64 { return &u.Finished }),
}

// Version 2 knows the code.
var updateColumnsV2 = append(slices.Clip(updateColumns),
	text("code_version", func(u *Update) *string { return &u.CodeVersion }),
)

// Validate checks the contract: a step from 1, ids that rise without a
// repetition, positions with a topic and numbers of at least 0, and metrics with
// a name. A metric may be NaN or infinite: it tells what was seen.
func (u Update) Validate() error {
	c := &contract{schema: "update", id: fmt.Sprintf("%s step %d", u.Run, u.Step)}
	c.utf8("Run", u.Run)
	c.utf8("CodeVersion", u.CodeVersion)
	if u.Step < 1 {
		c.fail(Invalid, "Step", "is %d, less than 1", u.Step)
	}
	c.rising("SampleIDs", u.SampleIDs)
	c.rising("DroppedIDs", u.DroppedIDs)
	c.rising("GroupIDs", u.GroupIDs)
	for i, p := range u.Positions {
		c.name(fmt.Sprintf("Positions[%d].Topic", i), p.Topic)
		c.notNegative(fmt.Sprintf("Positions[%d].Partition", i), int64(p.Partition))
		c.notNegative(fmt.Sprintf("Positions[%d].Offset", i), p.Offset)
	}
	for i, m := range u.Metrics {
		c.name(fmt.Sprintf("Metrics[%d].Name", i), m.Name)
	}
	return c.err()
}
