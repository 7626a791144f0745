package ablate

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/renameio/v2"
)

// Point is one number of one run: a step's metric, or pass@1 of a held-out set under
// the name "pass@1/<set>".
type Point struct {
	Arm    string
	Seed   uint64
	Step   int64
	Metric string
	Value  float64
}

// Points are all numbers of all runs, in the order of arm, seed, step and name.
func (r Results) Points() []Point {
	var out []Point
	for arm, records := range r.Records {
		for i, record := range records {
			at := Point{Arm: r.Matrix.Arms[arm].Name, Seed: r.Matrix.Seeds[i]}
			for _, e := range record.Evaluations {
				at.Step, at.Metric, at.Value = e.Step, "pass@1/"+e.Set, e.Pass1.Mean
				out = append(out, at)
			}
			for _, s := range record.Steps {
				at.Step = s.Number
				for _, name := range slices.Sorted(maps.Keys(s.Metrics)) {
					at.Metric, at.Value = name, s.Metrics[name]
					out = append(out, at)
				}
			}
		}
	}
	return out
}

var columns = []string{"arm", "seed", "step", "metric", "value"}

// WriteCSV writes points to a file, whole or not at all.
func WriteCSV(path string, points []Point) error {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	rows := [][]string{columns}
	for _, p := range points {
		rows = append(rows, []string{p.Arm, strconv.FormatUint(p.Seed, 10), strconv.FormatInt(p.Step, 10), p.Metric, strconv.FormatFloat(p.Value, 'g', -1, 64)})
	}
	if err := w.WriteAll(rows); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

var pointSchema = arrow.NewSchema([]arrow.Field{
	{Name: columns[0], Type: arrow.BinaryTypes.String},
	{Name: columns[1], Type: arrow.PrimitiveTypes.Uint64},
	{Name: columns[2], Type: arrow.PrimitiveTypes.Int64},
	{Name: columns[3], Type: arrow.BinaryTypes.String},
	{Name: columns[4], Type: arrow.PrimitiveTypes.Float64},
}, nil)

// WriteParquet writes points to a file, whole or not at all.
func WriteParquet(path string, points []Point) error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, pointSchema)
	defer b.Release()
	for _, p := range points {
		b.Field(0).(*array.StringBuilder).Append(p.Arm)
		b.Field(1).(*array.Uint64Builder).Append(p.Seed)
		b.Field(2).(*array.Int64Builder).Append(p.Step)
		b.Field(3).(*array.StringBuilder).Append(p.Metric)
		b.Field(4).(*array.Float64Builder).Append(p.Value)
	}
	record := b.NewRecord()
	defer record.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(pointSchema, &out, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy)), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(record)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = renameio.WriteFile(path, out.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
