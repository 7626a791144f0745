package train

import (
	"time"

	"millrace/kernels"
	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// meter measures what the learner cannot see: where the time between two steps
// went.
type meter struct {
	parts   *parts
	at      time.Time
	engine  kernels.GeneratorStats
	sandbox sandbox.Stats
	turns   int64
}

func newMeter(p *parts) *meter {
	return &meter{parts: p, at: time.Now(), engine: p.generator.Stats(), sandbox: p.stats(), turns: p.turns()}
}

// step returns the metrics of the time since the step before. Busy seconds of
// sandboxes are summed over commands, so they may exceed the step's.
func (m *meter) step() []schemas.Metric {
	now, engine, boxes, turns := time.Now(), m.parts.generator.Stats(), m.parts.stats(), m.parts.turns()
	wall := now.Sub(m.at).Seconds()
	generated := float64(engine.Generated - m.engine.Generated)
	out := []schemas.Metric{
		{Name: "timing_s/step", Value: wall},
		{Name: "timing_s/gen", Value: (engine.Busy - m.engine.Busy).Seconds()},
		{Name: "timing_s/sandbox", Value: (boxes.Busy - m.sandbox.Busy).Seconds()},
		{Name: "sandbox/commands/count", Value: float64(boxes.Execs - m.sandbox.Execs)},
		{Name: "rollout/tokens_per_second", Value: generated / wall},
		{Name: "rollout/sampled_tokens", Value: generated},
		{Name: "rollout/turns", Value: float64(turns - m.turns)},
		{Name: "rollout/turns_per_second", Value: float64(turns-m.turns) / wall},
	}
	m.at, m.engine, m.sandbox, m.turns = now, engine, boxes, turns
	return out
}
