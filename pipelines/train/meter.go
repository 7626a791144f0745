package train

import (
	"time"

	"millrace/kernels/cpu"
	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// meter measures what the learner cannot see: where the time between two steps
// went.
type meter struct {
	parts   *parts
	at      time.Time
	engine  cpu.Stats
	sandbox sandbox.Stats
}

func newMeter(p *parts) *meter {
	return &meter{parts: p, at: time.Now(), engine: p.generator.Stats(), sandbox: p.stats()}
}

// step returns the metrics of the time since the step before. Busy seconds of
// sandboxes are summed over commands, so they may exceed the step's.
func (m *meter) step() []schemas.Metric {
	now, engine, boxes := time.Now(), m.parts.generator.Stats(), m.parts.stats()
	wall := now.Sub(m.at).Seconds()
	generated := float64(engine.Generated - m.engine.Generated)
	out := []schemas.Metric{
		{Name: "timing_s/step", Value: wall},
		{Name: "timing_s/gen", Value: (engine.Busy - m.engine.Busy).Seconds()},
		{Name: "timing_s/sandbox", Value: (boxes.Busy - m.sandbox.Busy).Seconds()},
		{Name: "sandbox/commands/count", Value: float64(boxes.Execs - m.sandbox.Execs)},
		{Name: "rollout/tokens_per_second", Value: generated / wall},
		{Name: "rollout/sampled_tokens", Value: generated},
	}
	m.at, m.engine, m.sandbox = now, engine, boxes
	return out
}
