package local

import (
	"millrace/pipelines/train"
	"millrace/runners/display"
)

// observer shows a run on a display.
type observer struct{ *display.Display }

// Stages implements train.Observer.
func (o observer) Stages(states []train.StageState) {
	stages := make([]display.Stage, 0, len(states))
	for _, s := range states {
		stages = append(stages, display.Stage{
			Name: s.Name, Busy: s.Busy, In: s.In, Out: s.Out, InFlight: s.InFlight, Lag: s.Lag, Idle: s.Idle,
		})
	}
	o.Display.Stages(stages)
}
