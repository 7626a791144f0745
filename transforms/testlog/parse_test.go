package testlog

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	startLine = "+ : '" + StartMarker + "'\n"
	endLine   = "+ : '" + EndMarker + "'\n"
)

func TestRegion(t *testing.T) {
	const a, b, c = "PASSED a.py::a\n", "FAILED a.py::a\n", "PASSED a.py::c\n"
	aPassed, aFailed := map[string]Status{"a.py::a": Passed}, map[string]Status{"a.py::a": Failed}
	for name, tt := range map[string]struct {
		log  string
		want map[string]Status
		void string
		exit *int
	}{
		"between the markers":    {b + startLine + a + endLine + c, aPassed, "", nil},
		"no markers":             {a, aPassed, "", nil},
		"up to the second start": {startLine + a + startLine + b + endLine, aPassed, "", nil},
		"nothing in between":     {a + startLine + endLine, aPassed, "", nil},
		"no end":                 {startLine + a, nil, EndMarker, nil},
		"exit status":            {startLine + b + endLine + "+ echo '>>>>> Test Exit Code: 3'\n>>>>> Test Exit Code: 3\n", aFailed, "", number(3)},
		"exit status traced":     {startLine + b + endLine + "+ echo '>>>>> Test Exit Code: $?'\n>>>>> Test Exit Code: -1\n", aFailed, "", number(-1)},
		"patch":                  {startLine + a + endLine + ">>>>> Patch Apply Failed:\n", nil, "Patch Apply Failed", nil},
		"reset":                  {">>>>> Reset Failed\n" + startLine + a + endLine, nil, "Reset Failed", nil},
		"errored":                {startLine + a + endLine + ">>>>> Tests Errored\n", nil, "Tests Errored", nil},
		"timed out":              {startLine + a + ">>>>> Tests Timed Out\n" + endLine, nil, "Tests Timed Out", nil},
		"carriage returns":       {strings.ReplaceAll(startLine+"50%\r"+a+endLine, "\n", "\r\n"), aPassed, "", nil},
		"colours":                {startLine + "\x1b[32mPASSED\x1b[0m a.py::\x1b[1ma\x1b[0m\n" + endLine, aPassed, "", nil},
		"invalid UTF-8":          {"PASSED a.py::\xff\xfe\n", map[string]Status{"a.py::\uFFFD": Passed}, "", nil},
		"empty":                  {"", nil, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := parse(t, "pytest", tt.log, Options{})
			if got := r.Statuses(); len(got)+len(tt.want) > 0 && !cmp.Equal(got, tt.want) {
				t.Errorf("statuses %v, want %v", got, tt.want)
			}
			if (r.Void != "") != (tt.void != "") || !strings.Contains(r.Void, tt.void) {
				t.Errorf("void %q, want %q", r.Void, tt.void)
			}
			if !cmp.Equal(r.Exit, tt.exit) {
				t.Errorf("exit status %v, want %v", r.Exit, tt.exit)
			}
			if r.Ran != (len(tt.want) > 0) {
				t.Errorf("ran %v with %d verdicts", r.Ran, len(tt.want))
			}
		})
	}
}

// TestRan: a runner's own count tells a perfect run from none, where passes are not
// printed.
func TestRan(t *testing.T) {
	for log, want := range map[string]bool{
		"Executed 3 of 3 SUCCESS": true, "Executed 0 of 0 ERROR": false, "TOTAL: 12 SUCCESS": true,
		"12 passing (3s)": true, "0 passing": false, "Tests:       2 skipped, 3 total": true, "Tests:       0 total": false,
		"Test Suites: 1 failed, 3 total": true, "# tests 7": true, "# tests 0": false, "7 specs, 0 failures": true, "0 specs, 0 failures": false,
	} {
		if r := parse(t, "chart-js", log, Options{}); r.Ran != want || len(r.Verdicts) != 0 {
			t.Errorf("%q: ran %v with %d verdicts, want %v and none", log, r.Ran, len(r.Verdicts), want)
		}
	}
}

// TestCutLogs: in a log that ends anywhere, what has passed is a test of the whole
// log, or what the cut left of a name and the time behind it.
func TestCutLogs(t *testing.T) {
	logs(t, func(format, name, log string) {
		whole := parse(t, format, log, Options{})
		for cut := 0; cut < len(log); cut += 1 + cut/97 {
			for test, s := range parse(t, format, log[:cut], Options{}).Statuses() {
				test = strings.TrimRight(test, "\uFFFD") // a mark that was cut
				part := func(v Verdict) bool { return strings.HasPrefix(v.Test, test) || strings.HasPrefix(test, v.Test) }
				rewritten := (format == "matplotlib" || format == "pytest-options") && strings.Contains(log, test)
				if s == Passed && !rewritten && !slices.ContainsFunc(whole.Verdicts, part) {
					t.Fatalf("%s cut at %d: %q passed, which is no test of the whole", name, cut, test)
				}
			}
		}
	})
}

// TestHugeLogs: a line of megabytes and a flood of names leave memory bounded, and
// the verdicts around them stand.
func TestHugeLogs(t *testing.T) {
	long := strings.Repeat("x[", 2<<20)
	logs(t, func(format, name, log string) {
		want := parse(t, format, log, Options{}).Statuses()
		got := parse(t, format, log+"\n"+long+"\n", Options{}).Statuses()
		for test, s := range want {
			if got[test] != s {
				t.Errorf("%s: %q is %q behind a long line, want %q", name, test, got[test], s)
			}
		}
	})
	var flood strings.Builder
	for i := range maxVerdicts + 1000 {
		fmt.Fprintf(&flood, "PASSED a.py::t%d\n", i)
	}
	if n := len(parse(t, "pytest", flood.String(), Options{}).Verdicts); n != maxVerdicts {
		t.Errorf("%d verdicts, want %d", n, maxVerdicts)
	}
	if r := parse(t, "pytest", "PASSED "+long+"\n", Options{}); len(r.Verdicts) != 0 {
		t.Errorf("a name of %d bytes was kept", len(r.Verdicts[0].Test))
	}
}

// TestR2EHole: a failure whose message says PASSED passes in the original only.
func TestR2EHole(t *testing.T) {
	const log = "== short test summary info ==\nFAILED a.py::test_a - AssertionError: 'PASSED' != 'x'\n"
	if s := parse(t, "r2e", log, Options{Compat: true}).Statuses()["test_a"]; s != Passed {
		t.Errorf("compat: %q, want the original's PASSED", s)
	}
	if s := parse(t, "r2e", log, Options{}).Statuses()["test_a"]; s != Failed {
		t.Errorf("%q, want FAILED", s)
	}
}

// TestGoTestPanic: a test that a panic ended, and those around it.
func TestGoTestPanic(t *testing.T) {
	const log = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\npanic: no\nFAIL\tm/x\t0.01s\nok  \tm/y\t0.1s\n"
	want := []Verdict{{Test: "TestA", Name: "m/x.TestA", Status: Passed}, {Test: "TestB", Name: "m/x.TestB", Status: Failed}}
	if d := cmp.Diff(want, parse(t, "go-test", log, Options{}).Verdicts); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestOldPytest: lines where the status comes last are read since SWE-bench 3.0.15.
func TestOldPytest(t *testing.T) {
	const log = "a.py::t PASSED\nFAILED a.py::u - no\n"
	if got := parse(t, "pytest-v2-3.0.2", log, Options{Compat: true}).Statuses(); !cmp.Equal(got, map[string]Status{"a.py::u": Failed}) {
		t.Errorf("3.0.2: %v", got)
	}
	if got := parse(t, "pytest-v2", log, Options{Compat: true}).Statuses(); !cmp.Equal(got, map[string]Status{"a.py::t": Passed, "a.py::u": Failed}) {
		t.Errorf("%v", got)
	}
}

// TestNames: every name that a dataset or a repository has leads to a known format,
// and an unknown one to an error that lists the known.
func TestNames(t *testing.T) {
	for _, name := range append(LogParsers(), Formats()...) {
		format, err := FormatOf(name)
		if err != nil {
			t.Error(err)
		}
		if err := CheckFormat(format); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for repo, format := range repos {
		if err := CheckFormat(format); err != nil || repo != strings.ToLower(repo) {
			t.Errorf("%s: %v", repo, err)
		}
	}
	for repo, numbers := range instances {
		for number, want := range numbers {
			if got, err := FormatOfRepo(repo, "a__b-"+number); got != want || err != nil || CheckFormat(want) != nil {
				t.Errorf("%s-%s: %q, %v, want %q", repo, number, got, err, want)
			}
		}
	}
	if got, err := FormatOfRepo("BurntSushi/ripgrep", ""); got != "cargo" || err != nil {
		t.Errorf("ripgrep: %q, %v", got, err)
	}
	for _, err := range []error{
		second(FormatOf("parse_log_lein")), second(FormatOfRepo("a/b", "")), second(FormatOfRepo("jekyll/jekyll", "jekyll__jekyll-1")),
		CheckFormat("py.test"), second(Parse("py.test", "", Options{})),
	} {
		if err == nil || !strings.Contains(err.Error(), "want one") {
			t.Errorf("error %v lists nothing", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestSWERebenchRow: the parser that the shared row of SWE-rebench V2 names is known.
func TestSWERebenchRow(t *testing.T) {
	b, err := os.ReadFile("../../../shared/data/rows/swe-rebench-v2.json")
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
			t.Fatalf("the row is missing: %v", err)
		}
		t.Skipf("the row is not part of the project: %v", err)
	}
	var rows []struct {
		Config struct {
			LogParser string `json:"log_parser"`
		} `json:"install_config"`
	}
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if format, err := FormatOf(row.Config.LogParser); err != nil || !slices.Contains(Formats(), format) {
			t.Errorf("%q: %q, %v", row.Config.LogParser, format, err)
		}
	}
	if len(rows) == 0 {
		t.Error("no row")
	}
}
