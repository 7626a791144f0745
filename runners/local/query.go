package local

import (
	"context"
	"fmt"
	"io"

	"millrace/pipelines/query"
	"millrace/runners/display"
)

// The forms of an answer.
const (
	tableOutput = "table"
	csvOutput   = "csv"
	jsonOutput  = "json"
)

// Query runs "millrace query": it writes the answer to a query over the data sets
// of the runs in dirs.
func Query(ctx context.Context, dirs []string, sql, output string, out io.Writer) error {
	sink, err := sinkOf(output, out)
	if err != nil {
		return err
	}
	if err := query.Run(ctx, dirs, sql, sink); err != nil {
		return err
	}
	return sink.Close()
}

// QuerySchema runs "millrace query --schema": it lists tables and columns.
func QuerySchema(output string, out io.Writer) error {
	sink, err := sinkOf(output, out)
	if err != nil {
		return err
	}
	if err := sink.Head([]string{"table", "column", "type", "about"}); err != nil {
		return err
	}
	for _, t := range query.Tables {
		for _, c := range t.Columns {
			if err := sink.Row([]any{t.Name, c.Name, c.Type, c.Doc}); err != nil {
				return err
			}
		}
	}
	return sink.Close()
}

type closingSink interface {
	query.Sink
	Close() error
}

func sinkOf(output string, out io.Writer) (closingSink, error) {
	switch output {
	case tableOutput:
		return display.NewTable(out), nil
	case csvOutput:
		return query.NewCSV(out), nil
	case jsonOutput:
		return query.NewJSON(out), nil
	}
	return nil, fmt.Errorf("output %q: there are %s, %s and %s", output, tableOutput, csvOutput, jsonOutput)
}
