package train

import (
	"context"
	"math"
	"time"

	"millrace/transforms/kafkaio"
)

// watchEvery is how often the observer hears of the stages.
const watchEvery = time.Second

// Watched is a stage whose state is told.
type Watched struct {
	Name string
	// Capacity is the work that the stage may have under way; 0 for one that does
	// its work within Beam's bundles, which are not timed.
	Capacity int
}

// Watch tells observe how the stages of a run do in this process, until ctx ends.
func Watch(ctx context.Context, run string, stages []Watched, observe func([]StageState)) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	before := map[string]time.Duration{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var states []StageState
		for _, stage := range stages {
			s := kafkaio.StatsOf(run + "." + stage.Name)
			busy := math.NaN()
			if stage.Capacity > 0 {
				busy = min(1, (s.Busy-before[stage.Name]).Seconds()/(watchEvery.Seconds()*float64(stage.Capacity)))
			}
			before[stage.Name] = s.Busy
			states = append(states, StageState{Name: stage.Name, Busy: busy, In: s.RecordsIn, Out: s.RecordsOut, InFlight: s.InFlight, Lag: s.Lag, Idle: s.SinceLast})
		}
		observe(states)
	}
}
