package display

import (
	"fmt"
	"strings"
	"time"

	"millrace/pipelines/journal"
)

// shown are the metrics of a step that the display shows, in order.
var shown = []struct {
	name, label string
	format      func(float64) string
}{
	{journal.RewardMean, "reward", number},
	{journal.SolvedRatio, "solved", percent},
	{journal.ResponseLength, "tokens", number},
	{journal.Turns, "turns", number},
	{journal.TestsRun, "tests", number},
	{journal.Undos, "undos", number},
	{journal.StalenessMean, "staleness", number},
	{journal.Throughput, "tokens/s", number},
}

// field is one label with its value.
type field struct{ label, value string }

func (s *state) fields() []field {
	var out []field
	for _, m := range shown {
		if v, ok := s.metrics[m.name]; ok {
			out = append(out, field{m.label, m.format(v)})
		}
	}
	return out
}

// phaseLine is the phase as a plain line.
func (s *state) phaseLine(now time.Time) string {
	var b strings.Builder
	b.WriteString(s.phase)
	if s.total > 0 {
		fmt.Fprintf(&b, " %d/%d", s.done, s.total)
	}
	if now.After(s.began) {
		b.WriteString(" elapsed=" + span(now.Sub(s.began)))
	}
	if left, ok := s.phaseLeft(now); ok {
		b.WriteString(" left=" + span(left))
	}
	return b.String()
}

// stepLine is the step as a plain line.
func (s *state) stepLine() string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d/%d", s.step, s.of)
	for _, f := range s.fields() {
		b.WriteString(" " + f.label + "=" + f.value)
	}
	for i, e := range s.endings() {
		if i == 0 {
			b.WriteString(" ended=")
		} else {
			b.WriteString(",")
		}
		b.WriteString(e.reason + ":" + percent(e.share))
	}
	if left, ok := s.stepsLeft(); ok {
		b.WriteString(" left=" + span(left))
	}
	return b.String()
}

// lines is the block for a terminal of the given width. Lines may be longer.
func (s *state) lines(columns int, now time.Time) []string {
	var out []string
	if s.phase != "" {
		out = append(out, s.barLine(columns, now))
	}
	if s.of > 0 {
		head := []field{{"step", fmt.Sprintf("%d/%d", s.step, s.of)}}
		if left, ok := s.stepsLeft(); ok {
			// The steps' estimate is as of the last step's end.
			head = append(head, field{"left", span(left - now.Sub(s.stepTimes[len(s.stepTimes)-1]))})
		}
		out = append(out, flow(append(head, s.fields()...), columns)...)
		var ended []field
		for _, e := range s.endings() {
			ended = append(ended, field{e.reason, percent(e.share)})
		}
		if len(ended) > 0 {
			ended[0].label = "ended " + ended[0].label
			out = append(out, flow(ended, columns)...)
		}
	}
	return append(out, s.stageLines()...)
}

// barLine is the phase with its bar, made of what the width has room for.
func (s *state) barLine(columns int, now time.Time) string {
	if s.total <= 0 {
		return s.phase + "  " + span(now.Sub(s.began))
	}
	share := float64(s.done) / float64(s.total)
	text := fmt.Sprintf("%d/%d  %s  %s", s.done, s.total, percent(share), span(now.Sub(s.began)))
	if left, ok := s.phaseLeft(now); ok {
		text += "  left " + span(left)
	}
	const widest = 30
	room := columns - 1 - len(s.phase) - len(text) - 4
	if room < 4 { // a shorter bar says nothing
		return s.phase + "  " + text
	}
	return s.phase + "  " + bar(share, min(room, widest)) + "  " + text
}

// flow sets fields in as few lines as the width allows, without breaking one.
func flow(fields []field, columns int) []string {
	const gap = "   "
	var out []string
	for _, f := range fields {
		text := f.label + " " + f.value
		if n := len(out); n > 0 && len(out[n-1])+len(gap)+len(text) < columns {
			out[n-1] += gap + text
		} else {
			out = append(out, text)
		}
	}
	return out
}

// stageLines is the table of the stages. The columns that matter most stand
// first, since a narrow terminal cuts the last ones.
func (s *state) stageLines() []string {
	if len(s.stages) == 0 {
		return nil
	}
	const name = 10
	row := func(cells ...any) string { return fmt.Sprintf("%s %5s %6s %6s %7s %7s %5s", cells...) }
	out := []string{row(pad("stage", name), "busy", "flight", "lag", "in/s", "out/s", "idle")}
	for i, g := range s.stages {
		out = append(out, row(pad(clean(g.Name), name), percent(g.Busy), number(float64(g.InFlight)), number(float64(g.Lag)),
			number(s.rates[i].in), number(s.rates[i].out), span(g.Idle)))
	}
	return out
}
