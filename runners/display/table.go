package display

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

const (
	// tableRows is the number of rows that the widths of a table's columns are
	// taken from. Rows behind them are written as they come and may stand out.
	tableRows = 1000
	// cellColumns bounds the width of a cell; a longer text is cut.
	cellColumns = 72
)

// Table writes rows under aligned columns, numbers to the right. Cells are shown
// as one line of harmless text. Close must be called at the end.
type Table struct {
	out    io.Writer
	head   []string
	wait   [][]string // rows before the widths are known
	number []bool     // columns that hold nothing but numbers
	widths []int      // nil before they are known
}

// NewTable writes to w.
func NewTable(w io.Writer) *Table { return &Table{out: w} }

// Head names the columns.
func (t *Table) Head(columns []string) error {
	t.head = columns
	return nil
}

// Row adds a row. Cells are nil, numbers, or text in any form that fmt prints;
// floats are shown with six significant digits.
func (t *Table) Row(values []any) error {
	cells := make([]string, len(values))
	if t.number == nil {
		t.number = make([]bool, len(values))
		for i := range t.number {
			t.number[i] = true
		}
	}
	for i, v := range values {
		numeric := true
		switch v := v.(type) {
		case nil:
		case int, int32, int64:
			cells[i] = fmt.Sprint(v)
		case float64:
			cells[i] = fmt.Sprintf("%.6g", v)
		case []byte:
			cells[i], numeric = string(v), false
		default:
			cells[i], numeric = fmt.Sprint(v), false
		}
		t.number[i] = t.number[i] && (numeric || t.widths != nil)
		cells[i] = runewidth.Truncate(clean(cells[i]), cellColumns, "…")
	}
	if t.widths != nil {
		return t.line(cells)
	}
	t.wait = append(t.wait, cells)
	if len(t.wait) < tableRows {
		return nil
	}
	return t.flush()
}

// flush settles the widths and writes what waits.
func (t *Table) flush() error {
	t.widths = make([]int, len(t.head))
	for _, cells := range append([][]string{t.head}, t.wait...) {
		for i, cell := range cells {
			t.widths[i] = max(t.widths[i], runewidth.StringWidth(cell))
		}
	}
	rule := make([]string, len(t.head))
	for i, width := range t.widths {
		rule[i] = strings.Repeat("─", width)
	}
	for _, cells := range append([][]string{t.head, rule}, t.wait...) {
		if err := t.line(cells); err != nil {
			return err
		}
	}
	t.wait = nil
	return nil
}

func (t *Table) line(cells []string) error {
	var line strings.Builder
	for i, cell := range cells {
		if i > 0 {
			line.WriteString("  ")
		}
		if t.number != nil && t.number[i] {
			cell = runewidth.FillLeft(cell, t.widths[i])
		} else {
			cell = runewidth.FillRight(cell, t.widths[i])
		}
		line.WriteString(cell)
	}
	_, err := fmt.Fprintln(t.out, strings.TrimRight(line.String(), " "))
	return err
}

// Close writes what is left.
func (t *Table) Close() error {
	if t.widths != nil {
		return nil
	}
	return t.flush()
}
