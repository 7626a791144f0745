package dataset

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// runColumn is the column that a file leaves to its path.
const runColumn = "run"

// runIndex is the place of the run among a record type's columns, -1 if it has
// none. A new version of a record adds columns at the end, so it is the place in
// every version.
func runIndex(s *arrow.Schema) int {
	return slices.IndexFunc(s.Fields(), func(f arrow.Field) bool { return f.Name == runColumn })
}

func withoutRun(s *arrow.Schema) *arrow.Schema {
	i := runIndex(s)
	if i < 0 {
		return s
	}
	meta := s.Metadata()
	return arrow.NewSchema(slices.Delete(slices.Clone(s.Fields()), i, i+1), &meta)
}

// dropRun takes the run out of a record, which it releases.
func dropRun(r arrow.Record) arrow.Record {
	i := runIndex(r.Schema())
	if i < 0 {
		return r
	}
	defer r.Release()
	columns := slices.Delete(slices.Clone(r.Columns()), i, i+1)
	return array.NewRecord(withoutRun(r.Schema()), columns, r.NumRows())
}

// putRun puts the run of a path back where the full schema has it. The caller
// releases the result and, as before, r.
func putRun(r arrow.Record, full *arrow.Schema, run string) arrow.Record {
	i := runIndex(full)
	if i < 0 || i > len(r.Columns()) || runIndex(r.Schema()) >= 0 {
		r.Retain()
		return r
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for range r.NumRows() {
		b.Append(run)
	}
	column := b.NewArray()
	defer column.Release()
	fields := slices.Insert(slices.Clone(r.Schema().Fields()), i, full.Field(i))
	columns := slices.Insert(slices.Clone(r.Columns()), i, column)
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, r.NumRows())
}
