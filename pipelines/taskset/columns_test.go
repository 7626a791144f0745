package taskset

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/export/pythontest"
	"millrace/schemas"
)

// writeParquet writes rows of JSON as Hugging Face does, and harder: small row
// groups, categories, large strings, columns that no kind reads.
const writeParquet = `
import sys, json, pyarrow as pa, pyarrow.parquet as pq
source, target = sys.argv[1:]
text = open(source).read()
rows = [json.loads(l) for l in text.splitlines()] if source.endswith("l") else json.loads(text)
rows = list(rows.values()) if isinstance(rows, dict) else rows
columns = {}
for name in sorted({n for r in rows for n in r}):
    values = [r.get(name) for r in rows]
    array = pa.array([json.dumps(v) if isinstance(v, dict) and name != "install_config" else v for v in values]) \
        if not any(type(a) != type(b) for a in values for b in values if a is not None and b is not None) \
        else pa.array([v if isinstance(v, str) else json.dumps(v) for v in values])
    if name in ("repo", "repo_name"):
        array = array.dictionary_encode()
    if name in ("patch", "parsed_commit_content"):
        array = array.cast(pa.large_string())
    columns[name] = array
pq.write_table(pa.table(columns), target, row_group_size=2, compression="zstd")
`

// TestParquetOfPyarrow: a dataset in Parquet gives the tasks that it gives in JSON.
func TestParquetOfPyarrow(t *testing.T) {
	python := pythontest.Interpreter(t)
	for _, name := range []string{"r2e-gym.jsonl", "swe-bench-v4.json", "swe-bench-v5.json", "swe-smith.jsonl"} {
		t.Run(name, func(t *testing.T) {
			source, target := filepath.Join("testdata", name), filepath.Join(t.TempDir(), "train-00000-of-00001.parquet")
			if out, err := exec.Command(python, "-c", writeParquet, source, target).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want, got := importAll(t, Import{}, source), importAll(t, Import{}, target)
			if diff := cmp.Diff(want.tasks, got.tasks); diff != "" {
				t.Errorf("tasks (-JSON +Parquet):\n%s", diff)
			}
			for i := range want.bad {
				want.bad[i] = strings.Replace(want.bad[i], source, target, 1)
			}
			if diff := cmp.Diff(want.bad, got.bad); diff != "" {
				t.Errorf("bad rows (-JSON +Parquet):\n%s", diff)
			}
		})
	}
}

// TestParquetOfTasks: task records in Parquet are a task set.
func TestParquetOfTasks(t *testing.T) {
	want := importAll(t, Import{}, "testdata/r2e-gym.jsonl", "testdata/swe-bench-v4.json").tasks
	for i := range want {
		want[i].Iteration, want[i].Rollouts = 3, 8
	}
	record := schemas.Tasks.Record(want...)
	defer record.Release()
	path := filepath.Join(t.TempDir(), "tasks.parquet")
	writeRecord(t, path, record)
	for i := range want {
		want[i].Iteration, want[i].Rollouts = 0, 0
	}
	got := importAll(t, Import{}, path)
	if diff := cmp.Diff(want, got.tasks, cmp.Transformer("lists", func(s []string) string { return strings.Join(s, "\n") })); diff != "" || len(got.bad) > 0 {
		t.Errorf("tasks (-want +got):\n%s%v", diff, got.bad)
	}
}

func writeRecord(t testing.TB, path string, record arrow.Record) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(record.Schema(), f, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestParquetRows: a row over the limit and a column of an unknown type are errors of
// their rows, which the rows behind them survive; a cut file is one of the file.
func TestParquetRows(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "instance_id", Type: arrow.BinaryTypes.String}, {Name: "odd", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"a", strings.Repeat("x", 200), "c", "d"}, nil)
	b.Field(1).(*array.Date32Builder).AppendValues([]arrow.Date32{1, 1, 1, 1}, []bool{false, false, true, false})
	record := b.NewRecord()
	defer record.Release()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	writeRecord(t, path, record)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"instance_id,odd", "1: a", "2: row is longer than 100 bytes", "3: odd: columns of type date32 are not known", "4: d"}
	if diff := cmp.Diff(want, seen(t, "rows.parquet", string(whole), 100)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	broken := string(whole[:8]) + strings.Repeat("\xff", 40) + string(whole[48:])
	got := seen(t, "broken.parquet", broken, 100)
	if len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "error: ") {
		t.Errorf("a broken file gives %q", got)
	}
}
