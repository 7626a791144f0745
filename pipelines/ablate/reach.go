package ablate

import (
	"math"

	"millrace/pipelines/journal"
)

// Reach says how fast an arm comes to a target.
type Reach struct {
	Target float64
	// Steps has, for each seed, the first evaluated step from which on the mean of
	// two evaluations in a row, this and the next, is at the target, so that one lucky
	// draw does not count; NaN where the run never came there.
	Steps []float64
	// Rollouts has the samples of the steps up to there, those of groups that were drawn
	// again included: what the run paid in rollouts, where a recipe that replaces groups
	// pays more a step.
	Rollouts []float64
	// Reached counts the seeds that came there. Mean and Paid, of Steps and Rollouts, are
	// over these alone, so that they flatter an arm of which few did: read all three.
	Reached    int
	Mean, Paid Estimate
}

// Summary is what an arm came to.
type Summary struct {
	Arm Arm
	// Done counts the runs that have been evaluated after their first step.
	Done int
	// Final is the last evaluation, Best the largest of a run, Area the mean of
	// success over the steps from 0 to the last (the area under the curve by
	// trapezoids, divided by the steps): how fast and how far in one number.
	Final, Best, Area Estimate
	// Difference is Area less the first arm's, seed by seed: seeds share their tasks'
	// order and their first weights, so the pair's common luck falls out.
	Difference Estimate
	Reach      []Reach
}

// Summaries are the arms' in their order.
func (r Results) Summaries() []Summary {
	var out []Summary
	first := r.areas(0)
	for arm := range r.Matrix.Arms {
		s := Summary{Arm: r.Matrix.Arms[arm]}
		var final, best, differences []float64
		areas := r.areas(arm)
		for seed, record := range r.Records[arm] {
			_, success := r.curve(record)
			if len(success) < 2 {
				continue
			}
			s.Done++
			most := math.Inf(-1)
			for _, v := range success {
				most = max(most, v)
			}
			final, best = append(final, success[len(success)-1]), append(best, most)
			differences = append(differences, areas[seed]-first[seed])
		}
		s.Final, s.Best, s.Area, s.Difference = EstimateOf(final), EstimateOf(best), EstimateOf(areas), EstimateOf(differences)
		for _, target := range r.Matrix.Targets {
			s.Reach = append(s.Reach, r.reach(arm, target))
		}
		out = append(out, s)
	}
	return out
}

// curve is a run's success on the set that decides.
func (r Results) curve(record journal.Record) (steps []int64, success []float64) {
	for _, e := range record.Evaluations {
		if e.Set == r.Matrix.Split {
			steps, success = append(steps, e.Step), append(success, e.Pass1.Mean)
		}
	}
	return steps, success
}

func (r Results) reach(arm int, target float64) Reach {
	out := Reach{Target: target}
	for _, record := range r.Records[arm] {
		at, rollouts := math.NaN(), math.NaN()
		steps, success := r.curve(record)
		for i := range success {
			next := success[min(i+1, len(success)-1)]
			if (success[i]+next)/2 >= target {
				at, rollouts = float64(steps[i]), consumed(record, steps[i])
				out.Reached++
				break
			}
		}
		out.Steps, out.Rollouts = append(out.Steps, at), append(out.Rollouts, rollouts)
	}
	out.Mean, out.Paid = EstimateOf(out.Steps), EstimateOf(out.Rollouts)
	return out
}

// consumed counts the samples of a run's steps up to one.
func consumed(record journal.Record, until int64) float64 {
	sum := 0.0
	for _, s := range record.Steps {
		if s.Number <= until {
			sum += s.Metrics[journal.Consumed]
		}
	}
	return sum
}

// areas has the mean success over the steps of each seed's run, NaN of one that has
// fewer than two evaluations.
func (r Results) areas(arm int) []float64 {
	var out []float64
	for _, record := range r.Records[arm] {
		steps, success := r.curve(record)
		area := math.NaN()
		if n := len(steps); n > 1 && steps[n-1] > steps[0] {
			area = 0
			for i := 1; i < n; i++ {
				area += float64(steps[i]-steps[i-1]) * (success[i] + success[i-1]) / 2
			}
			area /= float64(steps[n-1] - steps[0])
		}
		out = append(out, area)
	}
	return out
}
