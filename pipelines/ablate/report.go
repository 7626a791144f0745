package ablate

import (
	"fmt"
	"math"
	"strings"

	"millrace/pipelines/journal"
	"millrace/pipelines/report"
)

// quantity is a step's metric that has a figure of its own.
type quantity struct {
	name, title, unit string
	metric            string
	share, zero       bool
}

var quantities = []quantity{
	{"reward", "Reward", "mean of the scored trajectories", journal.RewardMean, true, true},
	{"response-length", "Response length", "sampled tokens of a trajectory", journal.ResponseLength, false, true},
	{"environment-steps", "Environment steps", "of a trajectory", journal.Turns, false, true},
	{"entropy", "Entropy", "nats, mean of the trained tokens", journal.Entropy, false, true},
	{"clip-fraction", "Clip fraction", "share of the trained tokens", journal.ClipFraction, false, true},
	{"gradient-norm", "Gradient norm", "before clipping", journal.GradNorm, false, true},
}

// The metrics that count what a step's samples were filtered for: prefix, reason,
// suffix.
const (
	filterPrefix = "filter/"
	filterSuffix = "/count"
)

// Comparison is the report of the results.
func (r Results) Comparison(matrixYAML string) report.Comparison {
	c := report.Comparison{
		Title:      r.Matrix.Title,
		Subtitle:   fmt.Sprintf("%d arms, %d seeds; held-out set %s", len(r.Matrix.Arms), len(r.Matrix.Seeds), r.Matrix.Split),
		MatrixYAML: matrixYAML,
		Figures:    r.figures(),
		Notes: []string{
			"Every number is a mean over seeds with its 95 % confidence interval (Student's t).",
			"Area is the mean of held-out success over the steps of a run: how fast and how far in one number. Against " + r.Matrix.Arms[0].Name + " is the difference of areas, seed by seed; an interval without 0 is a difference.",
			"Steps to a target are a mean over the seeds that came there, which are counted; a run counts at the first of two evaluations whose mean is at the target. Rollouts to there include those of groups that were drawn again.",
		},
	}
	c.Head, c.Rows = r.Table()
	return c
}

// Table sums the arms up, a row an arm.
func (r Results) Table() (head []string, rows [][]string) {
	head = []string{"arm", "what it changes", "runs", "last", "best", "area", "against " + r.Matrix.Arms[0].Name}
	for _, t := range r.Matrix.Targets {
		head = append(head, fmt.Sprintf("steps to %.0f %%", 100*t), "rollouts to there", "of the runs")
	}
	for i, s := range r.Summaries() {
		row := []string{s.Arm.Name, s.Arm.Means, fmt.Sprint(s.Done), percent(s.Final), percent(s.Best), percent(s.Area), ""}
		if i > 0 {
			row[len(row)-1] = points(s.Difference)
		}
		for _, reach := range s.Reach {
			row = append(row, whole(reach.Mean), whole(reach.Paid), fmt.Sprintf("%d of %d", reach.Reached, s.Done))
		}
		rows = append(rows, row)
	}
	return head, rows
}

func percent(e Estimate) string {
	return text(e, func(v float64) string { return fmt.Sprintf("%.1f", 100*v) })
}
func points(e Estimate) string {
	return text(e, func(v float64) string { return fmt.Sprintf("%+.1f", 100*v) })
}
func whole(e Estimate) string {
	return text(e, func(v float64) string { return fmt.Sprintf("%.0f", v) })
}

// text is an estimate as people read it: "62.1 (58.0 .. 66.2)".
func text(e Estimate, number func(float64) string) string {
	switch {
	case math.IsNaN(e.Mean):
		return "never"
	case math.IsNaN(e.Low):
		return number(e.Mean)
	}
	return fmt.Sprintf("%s (%s .. %s)", number(e.Mean), number(e.Low), number(e.High))
}

func (r Results) figures() []report.Figure {
	success := report.Figure{Name: "success", Title: "Held-out success", Unit: "pass@1 on " + r.Matrix.Split, Share: true}
	for arm, a := range r.Matrix.Arms {
		success.Curves = append(success.Curves, curve(a.Name, r.Success(arm)))
	}
	out := []report.Figure{success}
	for _, q := range quantities {
		f := report.Figure{Name: q.name, Title: q.title, Unit: q.unit, Share: q.share, Zero: q.zero}
		for arm, a := range r.Matrix.Arms {
			f.Curves = append(f.Curves, curve(a.Name, r.Metric(arm, q.metric, "")))
		}
		out = append(out, f)
	}
	for _, name := range r.Names(filterPrefix) {
		reason, ok := strings.CutSuffix(strings.TrimPrefix(name, filterPrefix), filterSuffix)
		if !ok {
			continue
		}
		f := report.Figure{
			Name: "filtered-" + reason, Title: "Filtered: " + strings.ReplaceAll(reason, "_", " "),
			Unit: "share of the step's samples", Share: true, Zero: true,
		}
		for arm, a := range r.Matrix.Arms {
			f.Curves = append(f.Curves, curve(a.Name, r.Metric(arm, name, journal.Consumed)))
		}
		out = append(out, f)
	}
	return out
}

func curve(label string, s Series) report.Curve {
	c := report.Curve{Label: label, Steps: s.Steps}
	for _, v := range s.Values {
		c.Values, c.Low, c.High = append(c.Values, v.Mean), append(c.Low, v.Low), append(c.High, v.High)
	}
	return c
}
