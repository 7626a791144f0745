package export

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export/pythontest"
	"millrace/pipelines/journal"
	"millrace/schemas"
)

// readers reads a data directory with each engine as its users do, and fails if
// any of them needs help.
const readers = `
import sys, duckdb, polars, pyarrow.dataset as ds, pyarrow.parquet as pq
data = sys.argv[1]
runs, days = {"seed-7", "8"}, {"2026-11-20", "2026-11-21"}

rows = duckdb.sql(f"SELECT run::text, day::text, trajectory.id, value, trajectory.task.repo FROM '{data}/trajectories/**/*.parquet'").fetchall()
assert {r[0] for r in rows} == runs and {r[1] for r in rows} == days and len(rows) == 4, rows
spread = duckdb.sql(f"SELECT max(list_sum(tokens)) FROM '{data}/samples/**/*.parquet'").fetchall()
assert spread == [(910,)], spread
assert duckdb.sql(f"SELECT count(*) FROM '{data}/dead_letters/**/*.parquet'").fetchall() == [(0,)]

table = ds.dataset(f"{data}/trajectories", partitioning="hive").to_table()
assert table.num_rows == 4 and set(map(str, table["run"].to_pylist())) == runs, table
assert table.schema.metadata[b"millrace.schema"] == b"reward" and table.schema.metadata[b"millrace.version"] == sys.argv[2].encode()
for name in ["trajectories", "samples", "ledger", "dead_letters", "metrics"]:
    pq.read_table(f"{data}/{name}")
assert set(map(str, pq.read_table(f"{data}/ledger")["run"].to_pylist())) == runs

frame = polars.scan_parquet(f"{data}/trajectories/**/*.parquet", hive_partitioning=True).select("run", "day", "value").collect()
assert frame.height == 4 and set(map(str, frame["run"])) == runs and set(map(str, frame["day"])) == days, frame
`

// TestOtherEnginesReadManyRuns: DuckDB, pyarrow and Polars read a directory of two
// runs, one of which has a number for a name, and a table without rows.
func TestOtherEnginesReadManyRuns(t *testing.T) {
	python := pythontest.Interpreter(t)
	dir := t.TempDir()
	for _, run := range []string{"seed-7", "8"} {
		brokers := broker(t)
		early, late := exampleReward(1), exampleReward(2)
		early.Trajectory.Finished, late.Trajectory.Finished = lastOfDay, firstOfNext
		produce(t, brokers, topics.Rewarded, schemas.Rewards, early, late)
		produce(t, brokers, topics.Samples, schemas.Samples, exampleSample(1))
		produce(t, brokers, topics.Ledger, schemas.Updates, exampleUpdate(1))
		if _, err := Run(t.Context(), brokers, run, topics, journal.Record{}, dir); err != nil {
			t.Fatal(err)
		}
	}
	if files, err := dataset.Find(dir, Trajectories); err != nil || len(files) != 4 {
		t.Fatalf("%d files in %s, %v", len(files), filepath.Join(dir, Trajectories), err)
	}
	out, err := exec.Command(python, "-c", readers, dir, strconv.Itoa(schemas.Rewards.Version())).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
