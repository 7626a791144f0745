package testlog

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"millrace/schemas"
)

// officialLogs are logs of SWE-bench Verified evaluations and what SWE-bench's own
// harness (3.0.2) made of them; the project itself does not contain them.
const officialLogs = "../../../shared/data/swebench-logs.jsonl.gz"

// evaluation is one of them.
type evaluation struct {
	Instance string `json:"instance_id"`
	Repo     string `json:"repo"`
	Log      string `json:"log"`
	Resolved bool   `json:"resolved"`
	Tests    struct {
		FailToPass, PassToPass outcome
	} `json:"tests_status"`
}

type outcome struct{ Success, Failure []string }

func (e *evaluation) UnmarshalJSON(b []byte) error {
	type plain evaluation
	var row struct {
		*plain
		Tests map[string]outcome `json:"tests_status"`
	}
	row.plain = (*plain)(e)
	if err := json.Unmarshal(b, &row); err != nil {
		return err
	}
	e.Tests.FailToPass, e.Tests.PassToPass = row.Tests["FAIL_TO_PASS"], row.Tests["PASS_TO_PASS"]
	return nil
}

// evaluations calls f with every recorded evaluation. Without the file the test is
// skipped, or fails where everything is required.
func evaluations(t testing.TB, f func(evaluation)) {
	t.Helper()
	file, err := os.Open(officialLogs)
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
			t.Fatalf("the recorded evaluations are missing: %v", err)
		}
		t.Skipf("the recorded evaluations are not part of the project: %v", err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := bufio.NewScanner(unzipped)
	rows.Buffer(nil, 64<<20)
	for n := 1; rows.Scan(); n++ {
		var e evaluation
		if err := json.Unmarshal(rows.Bytes(), &e); err != nil {
			t.Fatalf("row %d of %s: %v", n, officialLogs, err)
		}
		f(e)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// mended are instances whose official verdict came from a defect of that harness
// (see pytestV2First), and the tests that SWE-bench 4.1.0 finds failed in their logs.
var mended = map[string][]string{
	"astropy__astropy-7606": {"astropy/units/tests/test_units.py::test_compose_roundtrip[]"},
	"astropy__astropy-7671": nil,
}

// TestOfficialVerdicts: read as that version of the harness did, each recorded log
// gives exactly its lists and its resolution; and so does our own reading, but for
// the logs whose reading SWE-bench has mended since.
func TestOfficialVerdicts(t *testing.T) {
	logs, differ := 0, 0
	evaluations(t, func(e evaluation) {
		logs++
		format, err := FormatOfRepo(e.Repo, e.Instance)
		if err != nil {
			t.Fatal(err)
		}
		passed, failed := sorted(e.Tests.FailToPass.Success, e.Tests.PassToPass.Success), sorted(e.Tests.FailToPass.Failure, e.Tests.PassToPass.Failure)
		// Tests that the official grading dropped are in neither list, so they are
		// unknown here and cannot be asked for.
		task := schemas.Task{Rule: "swe-bench", FailToPass: e.Tests.FailToPass.all(), PassToPass: e.Tests.PassToPass.all()}
		check := func(format string, o Options, value float64, passed, failed []string) {
			r, err := Parse(format, e.Log, o)
			if err != nil {
				t.Fatal(err)
			}
			g, err := Judge(task, r)
			if err != nil {
				t.Fatal(err)
			}
			want := Grade{Value: value, Passed: passed, Failed: failed}
			if d := cmp.Diff(want, g, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s as %s %+v (-official +ours):\n%s", e.Instance, format, o, d)
			}
		}
		value := 0.0
		if e.Resolved {
			value = 1
		}
		theirs := format
		if theirs == "pytest-v2" {
			theirs = "pytest-v2-3.0.2"
		}
		check(theirs, Options{Compat: true}, value, passed, failed)
		now, defect := mended[e.Instance]
		if !defect {
			check(format, Options{}, value, passed, failed)
			return
		}
		differ++
		if len(passed) > 0 || e.Resolved {
			t.Errorf("%s is listed as mended, and its official verdict has passes", e.Instance)
		}
		passed = slices.DeleteFunc(sorted(task.FailToPass, task.PassToPass), func(name string) bool { return slices.Contains(now, name) })
		check(format, Options{}, 1-min(1, float64(len(now))), passed, now)
	})
	if logs != 278 || differ != 4 {
		t.Errorf("%d evaluations of which %d are mended, want 278 and 4", logs, differ)
	}
}

func (o outcome) all() []string { return slices.Concat(o.Success, o.Failure) }

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
