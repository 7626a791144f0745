package report

import (
	"fmt"
	"math"

	"millrace/pipelines/journal"
)

// set is a held-out set as the page shows it: its first evaluation beside its
// last.
type set struct {
	Name            string
	Before, After   string // pass@1 with interval
	BeforeMean      string
	AfterMean       string
	Change          string
	BeforeStep      int64
	AfterStep       int64
	Tasks, Rollouts int
	Failures        int
	Samples         int
	Temperature     string
	Behaviour       []change
}

// change is a mean per trajectory before and after.
type change struct{ Label, Before, After string }

// sets are the evaluated sets, in the order of the evaluations.
func sets(evaluations []journal.Evaluation) []set {
	var names []string
	ends := map[string][2]journal.Evaluation{}
	for _, e := range evaluations {
		pair, seen := ends[e.Set]
		if !seen {
			names = append(names, e.Set)
			pair[0] = e
		}
		pair[1] = e
		ends[e.Set] = pair
	}
	var out []set
	for _, name := range names {
		out = append(out, compare(ends[name][0], ends[name][1]))
	}
	return out
}

func compare(before, after journal.Evaluation) set {
	return set{
		Name:   visible(after.Set),
		Before: interval(before.Pass1), After: interval(after.Pass1),
		BeforeMean: percent(before.Pass1.Mean), AfterMean: percent(after.Pass1.Mean),
		Change:     fmt.Sprintf("%+.1f points", 100*(after.Pass1.Mean-before.Pass1.Mean)),
		BeforeStep: before.Step, AfterStep: after.Step,
		Tasks: after.Tasks, Rollouts: after.Rollouts, Failures: after.Failures,
		Samples: after.Samples, Temperature: number(after.Temperature),
		Behaviour: []change{
			{"environment steps", number(before.Steps), number(after.Steps)},
			{"tests run", number(before.TestsRun), number(after.TestsRun)},
			{"undone edits", number(before.Undos), number(after.Undos)},
			{"sampled tokens", number(before.Tokens), number(after.Tokens)},
		},
	}
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func interval(i journal.Interval) string {
	return fmt.Sprintf("%.1f .. %.1f %%", 100*i.Low, 100*i.High)
}

// describe sums a metric up.
func describe(name string, values []float64) metricRow {
	least, most, first := math.NaN(), math.NaN(), math.NaN()
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		if math.IsNaN(first) {
			first, least, most = v, v, v
		}
		least, most = min(least, v), max(most, v)
	}
	return metricRow{Name: visible(name), First: number(first), Last: number(lastValue(values)), Least: number(least), Most: number(most)}
}

// lastValue is the last that is not NaN, NaN if there is none.
func lastValue(values []float64) float64 {
	for i := len(values) - 1; i >= 0; i-- {
		if !math.IsNaN(values[i]) {
			return values[i]
		}
	}
	return math.NaN()
}
