package schemas

import (
	"bytes"
	"context"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRowsFromParquet: what a Parquet writer is given through Record comes back
// through Rows.
func TestRowsFromParquet(t *testing.T) {
	want := exampleRewards()
	rec := Rewards.Record(want...)
	defer rec.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(Rewards.Schema(), &out, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 16}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	records, err := reader.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Release()
	if !records.Next() {
		t.Fatal("the Parquet file holds no record")
	}
	got, err := Rewards.Rows(records.Record())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows differ after Parquet:\n%s", diff)
	}
}
