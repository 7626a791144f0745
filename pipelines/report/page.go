package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"time"

	"millrace/pipelines/journal"
)

//go:embed page.html
var pageSource string

//go:embed style.css
var styleSheet string

//go:embed figure.html
var figureSource string

// parts are the templates that the pages include: "style", "figure" and "table", which
// wants Head and Rows.
var parts = template.Must(template.Must(template.New("style").Parse(styleSheet)).New("figure").Parse(figureSource))

var layout = template.Must(template.Must(parts.Clone()).New("page").Parse(pageSource))

// page is what the template shows.
type page struct {
	Title        string
	Subtitle     string
	Sets         []set
	Figures      []shownFigure
	Others       []metricRow
	Trajectories []trajectory
	ConfigYAML   string
}

// shownFigure is a figure as the page shows it.
type shownFigure struct {
	Title, Unit string
	SVG         template.HTML
	Legend      []legend
	Head        []string
	Rows        [][]string
}

// legend is a curve's name with the class of its colour and its last value.
type legend struct{ Class, Label, Last string }

// metricRow is a metric that no figure shows.
type metricRow struct{ Name, First, Last, Least, Most string }

func newPage(in Input) (page, error) {
	p := page{Title: visible(in.Title), ConfigYAML: visible(in.ConfigYAML), Subtitle: subtitle(in.Record), Sets: sets(in.Record.Evaluations)}
	all, shown := figures(in.Record)
	for _, f := range all {
		s, err := f.show()
		if err != nil {
			return page{}, err
		}
		p.Figures = append(p.Figures, s)
	}
	for _, name := range metricNames(in.Record.Steps) {
		if !shown[name] {
			p.Others = append(p.Others, describe(name, values(in.Record.Steps, name)))
		}
	}
	for _, r := range in.Trajectories {
		p.Trajectories = append(p.Trajectories, readable(r))
	}
	return p, nil
}

// subtitle says how far the run came, and how long that took.
func subtitle(r journal.Record) string {
	if len(r.Steps) == 0 {
		return "no step was taken"
	}
	first, last := r.Steps[0], r.Steps[len(r.Steps)-1]
	s := fmt.Sprintf("%d steps", last.Number)
	if took := last.Time.Sub(first.Time); took > 0 {
		s += fmt.Sprintf(", %s from the end of step %d to the end of step %d", took.Round(time.Second), first.Number, last.Number)
	}
	return s
}

func (f figure) show() (shownFigure, error) {
	drawn, err := f.svg()
	if err != nil {
		return shownFigure{}, err
	}
	s := shownFigure{Title: f.title, Unit: f.unit, SVG: drawn, Head: []string{"step"}}
	for i, c := range f.curves {
		label := visible(c.label)
		s.Legend = append(s.Legend, legend{Class: "c" + strconv.Itoa(i%palette), Label: label, Last: number(lastValue(c.values))})
		s.Head = append(s.Head, label)
		if c.low != nil {
			s.Head = append(s.Head, "low", "high")
		}
	}
	for i, step := range f.steps {
		row := []string{strconv.FormatInt(step, 10)}
		for _, c := range f.curves {
			row = append(row, number(c.values[i]))
			if c.low != nil {
				row = append(row, number(c.low[i]), number(c.high[i]))
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return s, nil
}
