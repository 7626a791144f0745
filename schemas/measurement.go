package schemas

// Measurement is one point of one curve: what a metric was at a step. It crosses
// no topic; it is what the journal of a run becomes as a data set.
type Measurement struct {
	Run string
	// Step is the number of the optimizer step, 0 for what was measured before the
	// first.
	Step int64
	// Name is the metric's: "critic/rewards/mean", "val/<set>/pass@1", ...
	Name string
	// Value is NaN where the metric was not finite.
	Value float64
	// Time is the Unix time in microseconds.
	Time int64
}

// Measurements is the codec of Measurement.
var Measurements = newCodec("measurement", measurementColumns)

var measurementColumns = []column[Measurement]{
	text("run", func(m *Measurement) *string { return &m.Run }),
	i64("step", func(m *Measurement) *int64 { return &m.Step }),
	text("name", func(m *Measurement) *string { return &m.Name }),
	f64("value", func(m *Measurement) *float64 { return &m.Value }),
	i64("time_us", func(m *Measurement) *int64 { return &m.Time }),
}

// Validate checks the contract: a name and a step of at least 0. The value may be
// NaN: it tells what was seen.
func (m Measurement) Validate() error {
	c := &contract{schema: "measurement", id: m.Name}
	c.utf8("Run", m.Run)
	c.notNegative("Step", m.Step)
	c.name("Name", m.Name)
	return c.err()
}
