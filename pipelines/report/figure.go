package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"millrace/pipelines/journal"
)

// figure is a group of curves over the same steps.
type figure struct {
	title, unit string
	steps       []int64
	curves      []curve
	// share fixes the value axis to 0..1, zero begins it at 0.
	share, zero bool
	// bands draws bounds as bands and not as a bar at each value.
	bands bool
}

// curve has one value for each of its figure's steps, NaN where there is none.
type curve struct {
	label  string
	values []float64
	// low and high bound the values, nil without an interval.
	low, high []float64
}

// definition says which metrics a figure shows: those named, or all whose name
// has prefix and suffix.
type definition struct {
	title, unit    string
	names          []labelled
	prefix, suffix string
	share, zero    bool
}

type labelled struct{ name, label string }

func one(name, label string) []labelled { return []labelled{{name, label}} }

var definitions = []definition{
	{title: "Reward", unit: "mean of the scored trajectories", share: true, names: []labelled{
		{journal.RewardMean, "reward"}, {journal.SolvedRatio, "solved"}}},
	{title: "Groups by outcome", unit: "groups of a step", prefix: journal.GroupPrefix, zero: true},
	{title: "Response length", unit: "sampled tokens of a trajectory", zero: true, names: one(journal.ResponseLength, "mean")},
	{title: "Environment steps", unit: "of a trajectory", zero: true, names: one(journal.Turns, "mean")},
	{title: "Tests run and undone edits", unit: "of a trajectory", zero: true, names: []labelled{
		{journal.TestsRun, "tests run"}, {journal.Undos, "undone edits"}}},
	{title: "Why trajectories ended", unit: "share of the step's samples", share: true, prefix: journal.TerminationPrefix, suffix: journal.RatioSuffix},
	{title: "Entropy", unit: "nats, mean of the trained tokens", zero: true, names: one(journal.Entropy, "entropy")},
	{title: "Gradient norm", unit: "before clipping", zero: true, names: one(journal.GradNorm, "norm")},
	{title: "Clip fraction", unit: "share of the trained tokens", zero: true, names: one(journal.ClipFraction, "clipped")},
	{title: "Log-prob mismatch", unit: "|learner − behaviour|, trained tokens", zero: true, names: []labelled{
		{journal.MismatchMean, "mean"}, {journal.MismatchMax, "largest"}}},
	{title: "KL to the behaviour policy", unit: "k3 estimate", names: one(journal.PolicyKL, "KL")},
	{title: "Staleness", unit: "steps between sampling and training", zero: true, names: []labelled{
		{journal.StalenessMean, "mean"}, {journal.StalenessMax, "largest"}}},
	{title: "Tokens each second", unit: "of update time", zero: true, names: one(journal.Throughput, "tokens/s")},
	{title: "Seconds of each phase", unit: "s", zero: true, prefix: journal.TimingPrefix},
}

// figures are the record's curves, those without a value left out, and the names
// of the metrics that they show.
func figures(r journal.Record) (out []figure, shown map[string]bool) {
	shown = map[string]bool{}
	if f := evaluationFigure(r.Evaluations); len(f.curves) > 0 {
		out = append(out, f)
	}
	names := metricNames(r.Steps)
	for _, d := range definitions {
		f := figure{title: d.title, unit: d.unit, share: d.share, zero: d.zero, steps: numbers(r.Steps)}
		for _, l := range d.match(names) {
			shown[l.name] = true
			f.add(l.label, values(r.Steps, l.name))
		}
		if len(f.curves) > 0 {
			out = append(out, f)
		}
	}
	kept := figure{title: "Kept ratio", unit: "share of the step's samples that are trained on", share: true, steps: numbers(r.Steps)}
	kept.add("kept", quotients(values(r.Steps, journal.Weighing), values(r.Steps, journal.Consumed)))
	if len(kept.curves) > 0 {
		out = append(out, kept)
	}
	return out, shown
}

// add adds a curve unless no step has a value for it.
func (f *figure) add(label string, values []float64) {
	if slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) }) {
		f.curves = append(f.curves, curve{label: label, values: values})
	}
}

func (d definition) match(names []string) []labelled {
	if d.prefix == "" {
		return d.names
	}
	var out []labelled
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, d.prefix); ok && strings.HasSuffix(rest, d.suffix) {
			out = append(out, labelled{n, strings.ReplaceAll(strings.TrimSuffix(rest, d.suffix), "_", " ")})
		}
	}
	return out
}

// evaluationFigure has a curve for each set. A step at which a set was not
// evaluated has no value.
func evaluationFigure(evaluations []journal.Evaluation) figure {
	f := figure{title: "Held-out pass@1", unit: "with 95 % confidence intervals", share: true}
	var sets []string
	for _, e := range evaluations {
		if !slices.Contains(f.steps, e.Step) {
			f.steps = append(f.steps, e.Step)
		}
		if !slices.Contains(sets, e.Set) {
			sets = append(sets, e.Set)
		}
	}
	for _, set := range sets {
		c := curve{label: set, values: gaps(len(f.steps)), low: gaps(len(f.steps)), high: gaps(len(f.steps))}
		for _, e := range evaluations {
			if e.Set == set {
				at := slices.Index(f.steps, e.Step)
				c.values[at], c.low[at], c.high[at] = e.Pass1.Mean, e.Pass1.Low, e.Pass1.High
			}
		}
		f.curves = append(f.curves, c)
	}
	return f
}

func gaps(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

func numbers(steps []journal.Step) []int64 {
	out := make([]int64, len(steps))
	for i, s := range steps {
		out[i] = s.Number
	}
	return out
}

func values(steps []journal.Step, name string) []float64 {
	out := gaps(len(steps))
	for i, s := range steps {
		if v, ok := s.Metrics[name]; ok {
			out[i] = v
		}
	}
	return out
}

func quotients(a, b []float64) []float64 {
	out := gaps(len(a))
	for i := range a {
		if b[i] != 0 {
			out[i] = a[i] / b[i]
		}
	}
	return out
}

// metricNames are the names that any step has, sorted.
func metricNames(steps []journal.Step) []string {
	seen := map[string]bool{}
	var out []string
	for _, s := range steps {
		for name := range s.Metrics {
			if !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// number formats a value with four significant digits.
func number(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}
