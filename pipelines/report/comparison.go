package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/google/renameio/v2"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Comparison is what a report of several arms is made of.
type Comparison struct {
	Title, Subtitle string
	// Head and Rows are the table that sums the arms up, a row an arm; the first
	// column names it.
	Head []string
	Rows [][]string
	// Notes say how to read the table.
	Notes   []string
	Figures []Figure
	// MatrixYAML is what was compared.
	MatrixYAML string
}

// Figure is one quantity of all arms over the steps.
type Figure struct {
	// Name is a file's name without an ending.
	Name        string
	Title, Unit string
	// Share fixes the value axis to 0..1, Zero begins it at 0.
	Share, Zero bool
	Curves      []Curve
}

// Curve is one arm's values at its steps, in order, with bounds; NaN is none.
type Curve struct {
	Label             string
	Steps             []int64
	Values, Low, High []float64
}

//go:embed comparison.html
var comparisonSource string

var comparisonLayout = template.Must(template.Must(parts.Clone()).New("comparison").Parse(comparisonSource))

// comparisonPage is what the template shows.
type comparisonPage struct {
	Comparison
	Drawn []shownFigure
}

// WriteComparison writes the report to path, whole or not at all.
func WriteComparison(path string, c Comparison) error {
	page := comparisonPage{Comparison: c.visible()}
	for _, f := range c.Figures {
		s, err := f.figure().show()
		if err != nil {
			return fmt.Errorf("writing the report %s: %w", path, err)
		}
		page.Drawn = append(page.Drawn, s)
	}
	var out bytes.Buffer
	if err := comparisonLayout.Execute(&out, page); err != nil {
		return fmt.Errorf("writing the report %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// visible is the comparison with its texts made harmless.
func (c Comparison) visible() Comparison {
	c.Title, c.Subtitle, c.MatrixYAML = visible(c.Title), visible(c.Subtitle), visible(c.MatrixYAML)
	c.Head, c.Notes = visibles(c.Head), visibles(c.Notes)
	rows := make([][]string, len(c.Rows))
	for i, row := range c.Rows {
		rows[i] = visibles(row)
	}
	c.Rows = rows
	return c
}

func visibles(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = visible(t)
	}
	return out
}

// figure brings the curves to common steps.
func (f Figure) figure() figure {
	out := figure{title: f.Title, unit: f.Unit, share: f.Share, zero: f.Zero, bands: true}
	for _, c := range f.Curves {
		out.steps = append(out.steps, c.Steps...)
	}
	slices.Sort(out.steps)
	out.steps = slices.Compact(out.steps)
	for _, c := range f.Curves {
		n := len(out.steps)
		to := curve{label: c.Label, values: gaps(n), low: gaps(n), high: gaps(n)}
		for i, step := range c.Steps {
			at, _ := slices.BinarySearch(out.steps, step)
			to.values[at], to.low[at], to.high[at] = c.Values[i], c.Low[i], c.High[i]
		}
		out.curves = append(out.curves, to)
	}
	return out
}

// The size of a figure that stands alone, in points.
const (
	aloneWidth  = 640
	aloneHeight = 360
)

// The colours of a figure that stands alone, on white: those of the page in light.
var printed = []string{"#0072b2", "#d55e00", "#009e73", "#b5559c", "#a07a00", "#2f9ed8", "#7a4fc0", "#777777"}

// SVG is the figure as a file of its own, with title, axes and legend.
func (f Figure) SVG() ([]byte, error) {
	drawn := f.figure()
	p, err := drawn.plot()
	if err != nil {
		return nil, err
	}
	p.BackgroundColor = paper
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, "step", f.Unit
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.Legend.TextStyle} {
		style.Color, style.Font.Variant = ink, "Sans"
	}
	p.Legend.Padding, p.Legend.XOffs = vg.Points(6), -vg.Points(8)
	p.Legend.Top = drawn.endsBelow((p.Y.Min + p.Y.Max) / 2)
	for i, c := range drawn.curves {
		line, err := plotter.NewLine(plotter.XYs{{}})
		if err != nil {
			return nil, fmt.Errorf("plotting %s: %w", f.Title, err)
		}
		line.Color, line.Width = curveColor(i), vg.Points(2)
		p.Legend.Add(c.label+"  ", line)
	}
	element, err := drawn.draw(p, aloneWidth, aloneHeight)
	if err != nil {
		return nil, err
	}
	return []byte(colors("#222222", "#888888", "#ffffff", printed).Replace(element)), nil
}

// endsBelow says whether the curves' last values are below a value, by their mean:
// there the legend would stand in their way.
func (f figure) endsBelow(middle float64) bool {
	sum, n := 0.0, 0.0
	for _, c := range f.curves {
		if v := lastValue(c.values); !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum < middle*n
}
