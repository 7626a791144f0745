package local

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const rewardLog = `+ : '>>>>> Start Test Output'
test_b (m.Tests) ... ok
test_a (m.Tests) ... FAIL
Text <b> & more ... ok
+ : '>>>>> End Test Output'
`

// TestParsedLogsHaveTheOfficialVerdict: the command's output, judged by SWE-bench's
// rule in a few lines of its own, gives the official lists and resolution of every
// recorded evaluation.
func TestParsedLogsHaveTheOfficialVerdict(t *testing.T) {
	logs := 0
	for e := range evaluations(t) {
		logs++
		var out bytes.Buffer
		o := ParseLogOptions{Repo: e.Repo, Instance: e.Instance, Log: "-", In: strings.NewReader(e.Log), Out: &out, Err: io.Discard}
		if err := ParseLog(o); err != nil {
			t.Fatalf("%s: %v", e.Instance, err)
		}
		var statuses map[string]string
		if err := json.Unmarshal(out.Bytes(), &statuses); err != nil {
			t.Fatalf("%s: %v", e.Instance, err)
		}
		resolved := true
		for _, o := range []outcome{e.Tests["FAIL_TO_PASS"], e.Tests["PASS_TO_PASS"]} {
			for _, name := range o.Success {
				if s := statuses[name]; s != "PASSED" && s != "XFAIL" {
					t.Errorf("%s: %s is %q, officially passed", e.Instance, name, s)
				}
			}
			for _, name := range o.Failure {
				resolved = false
				if s := statuses[name]; s != "" && s != "FAILED" && s != "ERROR" {
					t.Errorf("%s: %s is %q, officially failed", e.Instance, name, s)
				}
			}
		}
		if resolved != e.Resolved {
			t.Errorf("%s: resolved %t, officially %t", e.Instance, resolved, e.Resolved)
		}
	}
	if logs != 278 {
		t.Errorf("%d evaluations, want 278", logs)
	}
}

// evaluation is a log of SWE-bench Verified and what SWE-bench's own harness made of it.
type evaluation struct {
	Instance string             `json:"instance_id"`
	Repo     string             `json:"repo"`
	Log      string             `json:"log"`
	Resolved bool               `json:"resolved"`
	Tests    map[string]outcome `json:"tests_status"`
}

type outcome struct {
	Success []string `json:"success"`
	Failure []string `json:"failure"`
}

// evaluations are those that the project is tested with and does not contain.
func evaluations(t *testing.T) iter.Seq[evaluation] {
	const path = "../../../shared/data/swebench-logs.jsonl.gz"
	file, err := os.Open(path)
	if err != nil && (os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "") {
		t.Fatalf("the recorded evaluations are missing: %v", err)
	}
	if err != nil {
		t.Skipf("the recorded evaluations are not part of the project: %v", err)
	}
	t.Cleanup(func() { file.Close() })
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := json.NewDecoder(unzipped)
	return func(yield func(evaluation) bool) {
		for {
			var e evaluation
			err := rows.Decode(&e)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if !yield(e) {
				return
			}
		}
	}
}

func TestParseLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test_output.txt")
	if err := os.WriteFile(file, []byte(rewardLog), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "Text <b> & more": "PASSED",
  "test_a (m.Tests)": "FAILED",
  "test_b (m.Tests)": "PASSED"
}
`
	for name, tt := range map[string]struct {
		o    ParseLogOptions
		in   string
		want string
		err  string
		told string
	}{
		"by repository":     {o: ParseLogOptions{Repo: "django/django", Log: file}, want: want},
		"by format":         {o: ParseLogOptions{Format: "django", Log: file}, want: want},
		"by log parser":     {o: ParseLogOptions{Format: "parse_log_django", Log: file}, want: want},
		"standard input":    {o: ParseLogOptions{Format: "django", Compat: true, Log: "-"}, in: rewardLog, want: want},
		"void":              {o: ParseLogOptions{Format: "django", Log: "-"}, in: rewardLog + ">>>>> Tests Timed Out\n", want: "{}\n", told: "Tests Timed Out"},
		"by an instance":    {o: ParseLogOptions{Repo: "Immutable-js/immutable-js", Instance: "immutable-js__immutable-js-2006", Log: "-"}, in: "✓ a (3 ms)\n", want: "{\n  \"a\": \"PASSED\"\n}\n"},
		"without instance":  {o: ParseLogOptions{Repo: "jekyll/jekyll", Log: file}, err: "want one ending with 8047"},
		"unknown":           {o: ParseLogOptions{Repo: "no/such", Log: file}, err: `unknown repository "no/such", want one of apache/druid`},
		"unknown format":    {o: ParseLogOptions{Format: "parse_log_lein", Log: file}, err: `unknown log parser "parse_log_lein"`},
		"both":              {o: ParseLogOptions{Repo: "django/django", Format: "django", Log: file}, err: "give one"},
		"neither":           {o: ParseLogOptions{Log: file}, err: "--repo or --format"},
		"a file that isn't": {o: ParseLogOptions{Format: "django", Log: file + ".gone"}, err: "test_output.txt.gone"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, told bytes.Buffer
			tt.o.In, tt.o.Out, tt.o.Err = strings.NewReader(tt.in), &out, &told
			err := ParseLog(tt.o)
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want one with %q", err, tt.err)
			}
			if !strings.Contains(told.String(), tt.told) || tt.told == "" && told.Len() > 0 {
				t.Errorf("told %q, want %q", told.String(), tt.told)
			}
			if out.String() != tt.want {
				t.Errorf("got\n%swant\n%s", out.String(), tt.want)
			}
		})
	}
}

func TestDiffSimilarity(t *testing.T) {
	write := func(name, content string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const diff = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3\n"
	a := write("a.diff", diff)
	var out bytes.Buffer
	if err := DiffSimilarity(a, write("same.diff", diff), &out); err != nil || out.String() != "1\n" {
		t.Errorf("equal diffs: %q, %v", out.String(), err)
	}
	out.Reset()
	// Nothing predicted leaves one of the oracle's files without a match.
	if err := DiffSimilarity(a, write("none.diff", ""), &out); err != nil || out.String() != "0\n" {
		t.Errorf("no diff: %q, %v", out.String(), err)
	}
	if err := DiffSimilarity(a, a+".gone", &out); err == nil || !strings.Contains(err.Error(), "a.diff.gone") {
		t.Errorf("error %v does not name the file", err)
	}
}
