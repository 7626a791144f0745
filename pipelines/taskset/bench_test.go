package taskset

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/schemas"
)

// BenchmarkImport tells rows/s and MB/s of each kind as JSONL, with what comes of a
// row checked, and of task records in Parquet.
func BenchmarkImport(b *testing.B) {
	for _, name := range []string{"r2e-gym.tasks.jsonl", "r2e-gym.jsonl", "swe-bench-v4.json", "swe-smith.jsonl", "swe-rebench-v2.json"} {
		b.Run(strings.TrimSuffix(name, filepath.Ext(name)), func(b *testing.B) {
			importRows(b, manyRows(b, filepath.Join("testdata", name)))
		})
	}
	b.Run("parquet", func(b *testing.B) {
		var tasks []schemas.Task
		one := importAll(b, Import{}, "testdata/swe-bench-v4.json").tasks
		for i := range 2000 {
			task := one[i%len(one)]
			task.ID = fmt.Sprint(task.ID, i)
			tasks = append(tasks, task)
		}
		record := schemas.Tasks.Record(tasks...)
		defer record.Release()
		path := filepath.Join(b.TempDir(), "tasks.parquet")
		writeRecord(b, path, record)
		importRows(b, path)
	})
}

// manyRows writes a dataset's rows over and over, about four megabytes of them.
func manyRows(b *testing.B, path string) string {
	b.Helper()
	var out bytes.Buffer
	for out.Len() < 4<<20 {
		err := readRows(b.Context(), path, DefaultRowBytes, func(c []string) ([]string, error) { return c, nil },
			func(_ int64, _ float64, r *row, bad error) error {
				out.WriteString(strings.ReplaceAll(string(r.text), "\n", " ") + "\n")
				return bad
			})
		if err != nil {
			b.Fatal(err)
		}
	}
	many := filepath.Join(b.TempDir(), "many.jsonl")
	if err := os.WriteFile(many, out.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	return many
}

func importRows(b *testing.B, path string) {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	rows := int64(0)
	for b.Loop() {
		counts, err := Import{Task: func(schemas.Task) error { return nil }}.Run(b.Context(), path)
		if err != nil || counts.Rows == 0 {
			b.Fatalf("%+v, %v", counts, err)
		}
		rows += counts.Rows
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
