package query

import "millrace/schemas"

var metricColumns = []column[schemas.Measurement]{
	integer("step", "optimizer step, 0 before the first", func(m *schemas.Measurement) any { return m.Step }),
	text("name", "the metric's name", func(m *schemas.Measurement) any { return m.Name }),
	number("value", "NULL where it was not finite", func(m *schemas.Measurement) any { return m.Value }),
	text("time", "time in UTC", func(m *schemas.Measurement) any { return timestamp(m.Time) }),
}
