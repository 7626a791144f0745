// Package report makes one HTML file of a run: what it was worth on held-out
// tasks before and after, the curves with the numbers behind them, whole
// trajectories to read, and the configuration. The file needs nothing else: no
// script, no font and no image from outside.
package report

import (
	"bytes"
	"fmt"

	"github.com/google/renameio/v2"

	"millrace/pipelines/journal"
	"millrace/schemas"
)

// Input is what a report is made of.
type Input struct {
	Title string
	// ConfigYAML is the resolved configuration.
	ConfigYAML string
	Record     journal.Record
	// Trajectories are shown whole, in this order: a handful, of a [Selection]
	// for instance.
	Trajectories []schemas.Reward
}

// Write writes the report to path, whole or not at all. Whatever agents, tests
// or configuration put into a text is shown as text.
func Write(path string, in Input) error {
	p, err := newPage(in)
	if err != nil {
		return fmt.Errorf("writing the report %s: %w", path, err)
	}
	var out bytes.Buffer
	if err := layout.Execute(&out, p); err != nil {
		return fmt.Errorf("writing the report %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
