package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A plot's size in points, and so the units of its view box. The page scales it
// to its column, which on a phone is about as wide.
const (
	plotWidth  = 360
	plotHeight = 200
)

// palette is the number of curve colours of the style sheet.
const palette = 8

// The colours given to the plot stand for those of the style sheet, which change
// with the reader's light or dark setting.
var (
	ink   = color.RGBA{1, 2, 3, 255}
	rule  = color.RGBA{1, 2, 4, 255}
	paper = color.RGBA{1, 2, 5, 255}
)

func curveColor(i int) color.Color {
	return color.RGBA{1, 3, uint8(i % palette), 255}
}

func bandColor(i int) color.Color {
	return color.RGBA{1, 4, uint8(i % palette), 255}
}

var styleSheetColors = func() *strings.Replacer {
	hues := make([]string, palette)
	for i := range hues {
		hues[i] = fmt.Sprintf("var(--c%d)", i)
	}
	return colors("var(--ink)", "var(--rule)", "none", hues)
}()

// colors puts colours in the places of those given to the plot. A band has its curve's,
// thinned: the plot's own colours are opaque, since it would round thin ones to black.
func colors(inkBy, ruleBy, paperBy string, hues []string) *strings.Replacer {
	pairs := []string{"#010203", inkBy, "#010204", ruleBy, "#010205", paperBy}
	for i, hue := range hues {
		pairs = append(pairs, fmt.Sprintf("#0103%02x", i), hue, fmt.Sprintf("#0104%02x", i), hue+";fill-opacity:0.15")
	}
	return strings.NewReplacer(pairs...)
}

// svg draws a figure. All its text are numbers on the axes: what others named
// stands in the page, where the template escapes it.
func (f figure) svg() (template.HTML, error) {
	p, err := f.plot()
	if err != nil {
		return "", err
	}
	element, err := f.draw(p, plotWidth, plotHeight)
	if err != nil {
		return "", err
	}
	return template.HTML(styleSheetColors.Replace(element)), nil
}

// plot lays a figure out in the stand-in colours.
func (f figure) plot() (*plot.Plot, error) {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Color, axis.Tick.LineStyle.Color, axis.Tick.Label.Color = rule, rule, ink
		axis.Tick.Label.Font.Variant = "Sans"
	}
	p.X.Tick.Marker = wholeNumbers{}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Width = rule, vg.Points(0.4)
	p.Add(grid)
	for i, c := range f.curves {
		if err := f.addCurve(p, c, curveColor(i), bandColor(i)); err != nil {
			return nil, fmt.Errorf("plotting %s: %w", f.title, err)
		}
	}
	if f.zero || f.share {
		p.Y.Min = min(p.Y.Min, 0)
	}
	if f.share {
		p.Y.Max = max(p.Y.Max, 1)
	}
	return p, nil
}

// draw returns the svg element of a plot.
func (f figure) draw(p *plot.Plot, width, height vg.Length) (string, error) {
	canvas := vgsvg.New(width, height)
	p.Draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", fmt.Errorf("plotting %s: %w", f.title, err)
	}
	// The XML declaration and document type before the element have no place in a
	// page.
	_, element, ok := strings.Cut(out.String(), "<svg")
	if !ok {
		return "", fmt.Errorf("plotting %s: no svg element was made", f.title)
	}
	return "<svg" + element, nil
}

// addCurve draws the runs of finite values as lines, every value as a dot when
// there are few or it stands alone, and intervals as bars.
func (f figure) addCurve(p *plot.Plot, c curve, hue, pale color.Color) error {
	const fewEnoughForDots = 40
	if f.bands {
		if err := f.addBand(p, c, pale); err != nil {
			return err
		}
	}
	var dots plotter.XYs
	var bars intervals
	for _, line := range runs(f.steps, c.values) {
		l, err := plotter.NewLine(line)
		if err != nil {
			return err
		}
		l.Color, l.Width = hue, vg.Points(1.5)
		p.Add(l)
		if len(line) == 1 || (!f.bands && len(f.steps) <= fewEnoughForDots) {
			dots = append(dots, line...)
		}
	}
	if len(dots) > 0 {
		s, err := plotter.NewScatter(dots)
		if err != nil {
			return err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: hue, Radius: vg.Points(2), Shape: draw.CircleGlyph{}}
		p.Add(s)
	}
	for i, v := range c.values {
		if f.bands || c.low == nil || math.IsNaN(v) {
			continue
		}
		bars.XYs = append(bars.XYs, plotter.XY{X: float64(f.steps[i]), Y: v})
		bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{v - c.low[i], c.high[i] - v})
	}
	if len(bars.XYs) > 0 {
		b, err := plotter.NewYErrorBars(bars)
		if err != nil {
			return err
		}
		b.Color, b.Width = hue, vg.Points(1)
		p.Add(b)
	}
	return nil
}

// addBand fills what lies between the bounds of a curve, wherever both are known, and
// within 0 and 1 where values are shares.
func (f figure) addBand(p *plot.Plot, c curve, hue color.Color) error {
	var upper, lower plotter.XYs
	for i, step := range f.steps {
		if c.low == nil || math.IsNaN(c.low[i]) || math.IsNaN(c.high[i]) {
			continue
		}
		low, high := c.low[i], c.high[i]
		if f.share {
			low, high = max(low, 0), min(high, 1)
		}
		upper = append(upper, plotter.XY{X: float64(step), Y: high})
		lower = append(lower, plotter.XY{X: float64(step), Y: low})
	}
	if len(upper) < 2 {
		return nil
	}
	slices.Reverse(lower)
	band, err := plotter.NewPolygon(append(upper, lower...))
	if err != nil {
		return err
	}
	band.Color = hue
	band.LineStyle.Width = 0
	p.Add(band)
	return nil
}

// intervals are points with their distances to both ends.
type intervals struct {
	plotter.XYs
	plotter.YErrors
}

// runs cuts a curve at the steps without a value.
func runs(steps []int64, values []float64) []plotter.XYs {
	var out []plotter.XYs
	within := false
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			within = false
			continue
		}
		if !within {
			out = append(out, nil)
			within = true
		}
		out[len(out)-1] = append(out[len(out)-1], plotter.XY{X: float64(steps[i]), Y: v})
	}
	return out
}

// wholeNumbers are the default ticks at whole numbers: there is no half step.
type wholeNumbers struct{}

func (wholeNumbers) Ticks(low, high float64) []plot.Tick {
	var out []plot.Tick
	for _, t := range (plot.DefaultTicks{}).Ticks(low, high) {
		if t.Value == math.Trunc(t.Value) {
			out = append(out, t)
		}
	}
	return out
}
