package taskset

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/pipelines/mine"
	"millrace/schemas"
)

var write = flag.Bool("write", false, "write the golden files of testdata")

// imported is what an import gave.
type imported struct {
	tasks  []schemas.Task
	bad    []string
	drops  []Drop
	counts Counts
}

// importAll imports files, and checks that every row is accounted for.
func importAll(t testing.TB, im Import, files ...string) imported {
	t.Helper()
	var got imported
	im.Task = func(task schemas.Task) error {
		got.tasks = append(got.tasks, task)
		return nil
	}
	im.Bad = func(e *RowError) { got.bad = append(got.bad, e.Error()) }
	im.Dropped = func(d Drop) { got.drops = append(got.drops, d) }
	var err error
	if got.counts, err = im.Run(t.Context(), files...); err != nil {
		t.Fatal(err)
	}
	dropped := int64(0)
	for _, n := range got.counts.Dropped {
		dropped += n
	}
	if c := got.counts; c.Rows != c.Tasks+c.Bad+dropped || c.Tasks != int64(len(got.tasks)) || c.Bad != int64(len(got.bad)) || dropped != int64(len(got.drops)) {
		t.Errorf("counts %+v, but %d tasks, %d bad and %d dropped were seen", c, len(got.tasks), len(got.bad), len(got.drops))
	}
	return got
}

// golden compares the tasks, as a task file, with a file of testdata.
func golden(t *testing.T, name string, tasks []schemas.Task) {
	t.Helper()
	var got bytes.Buffer
	if err := mine.Write(&got, tasks); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *write {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestKinds holds what becomes of real-shaped rows of each kind to reviewed files,
// and names what is wrong with the others.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		file, golden string
		bad          []string
		dropped      map[Reason]int64
	}{
		{"r2e-gym.jsonl", "r2e-gym.tasks.jsonl", []string{
			"testdata/r2e-gym.jsonl:2: expected_output_json: parsing JSON: unexpected end of JSON input",
		}, map[Reason]int64{OfRepository: 1}},
		{"swe-bench-v4.json", "swe-bench-v4.tasks.jsonl", []string{
			"testdata/swe-bench-v4.json:5: version: no test command is known of apache/druid 13704; a row for the harness of version 5 has it in eval_script",
			"testdata/swe-bench-v4.json:6: FAIL_TO_PASS: parsing JSON: invalid character '\\'' looking for beginning of value",
		}, nil},
		{"swe-bench-v5.json", "swe-bench-v5.tasks.jsonl", []string{
			"testdata/swe-bench-v5.json:3: image_assets: the tests need test/rendering/cases/expected.png, which a patch cannot hold and the row only links to",
		}, nil},
		{"swe-smith.jsonl", "swe-smith.tasks.jsonl", []string{
			"testdata/swe-smith.jsonl:4: repo: the tests of tornadoweb/tornado are read by a parser of its own, which is not known",
			"testdata/swe-smith.jsonl:5: FAIL_TO_PASS: \"net::tests::parse\" is no test of pytest or of go test; of other languages each repository has a test command of its own, which the row does not have",
			"testdata/swe-smith.jsonl:6: problem_statement: missing or blank",
		}, map[Reason]int64{OfRepository: 1, Duplicate: 1}},
		{"swe-rebench-v2.json", "swe-rebench-v2.tasks.jsonl", []string{"testdata/swe-rebench-v2.json:3: install_config.log_parser: unknown log parser"}, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			var im Import
			if c.dropped != nil {
				im.Exclude = excluding(t, Benchmark...)
			}
			got := importAll(t, im, "testdata/"+c.file)
			golden(t, c.golden, got.tasks)
			for i, bad := range got.bad {
				if i < len(c.bad) && strings.HasPrefix(bad, c.bad[i]) {
					got.bad[i] = c.bad[i] // testlog may know more names than it did
				}
			}
			if diff := cmp.Diff(c.bad, got.bad); diff != "" {
				t.Errorf("bad rows (-want +got):\n%s", diff)
			}
			if c.dropped == nil {
				c.dropped = map[Reason]int64{}
			}
			if diff := cmp.Diff(c.dropped, got.counts.Dropped); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			again := importAll(t, Import{}, filepath.Join("testdata", c.golden))
			if diff := cmp.Diff(got.tasks, again.tasks); diff != "" || len(again.bad) > 0 {
				t.Errorf("as native tasks (-want +got):\n%s%v", diff, again.bad)
			}
		})
	}
}

// TestRealRow reads a published row of SWE-rebench V2.
func TestRealRow(t *testing.T) {
	const path = "../../../shared/data/rows/swe-rebench-v2.json"
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	got := importAll(t, Import{}, path)
	if len(got.bad) > 0 || len(got.tasks) != 1 {
		t.Fatalf("%d tasks, bad rows %v", len(got.tasks), got.bad)
	}
	task := got.tasks[0]
	if task.ID != "unidata__netcdf-c-1925" || task.Workdir != "/netcdf-c" || task.TestFormat != "automake" || task.Rule != "swe-rebench" ||
		len(task.FailToPass) != 12 || len(task.PassToPass) < 100 || !strings.Contains(task.TestCommand, "\nmake check\n") ||
		!strings.Contains(task.Statement, "nc_inq_var_filter_info") || len(task.TestFiles) == 0 {
		t.Errorf("task is %+v", task)
	}
}

func excluding(t testing.TB, repos ...string) *Exclusions {
	t.Helper()
	x, err := NewExclusions(repos...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
