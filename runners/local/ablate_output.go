package local

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"millrace/pipelines/ablate"
	"millrace/pipelines/report"
	"millrace/runners/display"
)

// writeComparison writes what the runs hold so far: the report, every number as CSV
// and Parquet, and every figure as SVG.
func writeComparison(dir string, m ablate.Matrix, matrixText string) error {
	results, err := ablate.Read(dir, m)
	if err != nil {
		return err
	}
	points := results.Points()
	if len(points) == 0 {
		return nil
	}
	if err := ablate.WriteCSV(filepath.Join(dir, "curves.csv"), points); err != nil {
		return err
	}
	if err := ablate.WriteParquet(filepath.Join(dir, "curves.parquet"), points); err != nil {
		return err
	}
	comparison := results.Comparison(matrixText)
	figures := filepath.Join(dir, "figures")
	if err := os.MkdirAll(figures, 0o755); err != nil {
		return fmt.Errorf("making a place for the figures: %w", err)
	}
	for _, f := range comparison.Figures {
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		if err := renameio.WriteFile(filepath.Join(figures, f.Name+".svg"), svg, 0o644); err != nil {
			return fmt.Errorf("writing a figure: %w", err)
		}
	}
	return report.WriteComparison(filepath.Join(dir, "report.html"), comparison)
}

// showComparison prints the table of the report.
func showComparison(out io.Writer, dir string, m ablate.Matrix) error {
	results, err := ablate.Read(dir, m)
	if err != nil {
		return err
	}
	head, rows := results.Table()
	table := display.NewTable(out)
	if err := table.Head(head); err != nil {
		return err
	}
	for _, row := range rows {
		cells := make([]any, len(row))
		for i, text := range row {
			cells[i] = text
		}
		if err := table.Row(cells); err != nil {
			return err
		}
	}
	if err := table.Close(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "report: %s\n", filepath.Join(dir, "report.html"))
	return err
}
