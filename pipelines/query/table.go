package query

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"millrace/pipelines/dataset"
)

// The types of columns, SQLite's.
const (
	textType    = "TEXT"
	integerType = "INTEGER"
	realType    = "REAL"
)

// Column is a column of a table. A value that is not known is NULL.
type Column struct {
	Name, Type, Doc string
}

// Table is a table that a query may name.
type Table struct {
	Name, Doc string
	Columns   []Column
	// source is the data set that the rows are made of.
	source string
	// rows makes the rows of one file.
	rows func(ctx context.Context, f dataset.File, insert func(values []any) error) error
}

// column is a Column and its value in a row of type R.
type column[R any] struct {
	Column
	value func(*R) any
}

func text[R any](name, doc string, value func(*R) any) column[R] {
	return column[R]{Column{name, textType, doc}, value}
}

func integer[R any](name, doc string, value func(*R) any) column[R] {
	return column[R]{Column{name, integerType, doc}, value}
}

func number[R any](name, doc string, value func(*R) any) column[R] {
	return column[R]{Column{name, realType, doc}, value}
}

// of makes columns of what a row holds columns of a row.
func of[R, T any](columns []column[T], part func(*R) *T) []column[R] {
	out := make([]column[R], len(columns))
	for i, c := range columns {
		out[i] = column[R]{c.Column, func(row *R) any { return c.value(part(row)) }}
	}
	return out
}

// partitionColumns begin every table.
var partitionColumns = []Column{
	{"run", textType, "the run's name"},
	{"day", textType, "date in UTC, 2026-11-21: the partition the row lies in"},
	{"dir", textType, "the run's directory, which tells runs of one name apart"},
}

// tableOf makes a table of the rows that expand makes of each record.
func tableOf[T, R any](name, doc, source string, codec dataset.Codec[T], expand func(T) []R, columns []column[R]) Table {
	t := Table{Name: name, Doc: doc, Columns: partitionColumns, source: source}
	for _, c := range columns {
		t.Columns = append(t.Columns[:len(t.Columns):len(t.Columns)], c.Column)
	}
	t.rows = func(ctx context.Context, f dataset.File, insert func([]any) error) error {
		values := make([]any, len(t.Columns))
		return dataset.Read(ctx, f, codec, func(record T) error {
			for _, row := range expand(record) {
				values[0], values[1], values[2] = f.Run, f.Day, filepath.Dir(f.Dir)
				for i, c := range columns {
					values[len(partitionColumns)+i] = c.value(&row)
				}
				if err := insert(values); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return t
}

// itself expands a record to itself.
func itself[T any](record T) []T { return []T{record} }

// list is a list as JSON, "[]" when it is empty.
func list[E any](values []E) any {
	if len(values) == 0 {
		return "[]"
	}
	text, err := jsonText(values)
	if err != nil {
		return nil // cannot be: the lists hold strings and numbers
	}
	return text
}

// jsonText is a value as JSON on one line, with < and > as they are: nobody puts
// it into a web page unescaped.
func jsonText(v any) (string, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// timestamp is a time as SQLite's date functions take it, in UTC to the
// millisecond; NULL for 0, which says that there is none.
func timestamp(micros int64) any {
	if micros == 0 {
		return nil
	}
	return time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05.000")
}

// seconds is the time from one instant to another; NULL where one is missing.
func seconds(fromMicros, toMicros int64) any {
	if fromMicros == 0 || toMicros == 0 {
		return nil
	}
	return float64(toMicros-fromMicros) / 1e6
}

// given is a text, NULL where it is empty.
func given[S ~string](text S) any {
	if text == "" {
		return nil
	}
	return string(text)
}

// flag is 1 or 0, as SQLite has truth.
func flag(b bool) any {
	if b {
		return int64(1)
	}
	return int64(0)
}
