package taskset

import (
	"strings"
	"testing"

	"millrace/transforms/testlog"
)

// TestBashTests: what stands before the tests is outside of the markers, both
// streams are between them in order, and the status is that of the tests.
func TestBashTests(t *testing.T) {
	command := bashTests([]string{`export NAME="it's"`, "false", "echo before"}, "echo out $NAME; echo err >&2; (exit 3)")
	out, code := shell(t, t.TempDir(), command)
	want := "before\n" + testlog.StartMarker + "\nout it's\nerr\n" + testlog.EndMarker + "\n"
	if out != want || code != 3 {
		t.Errorf("status %d, output %q, want 3 and %q", code, out, want)
	}
}

// TestRebenchStopsAtFirstFailure: the commands of SWE-rebench run until one fails,
// and the end is marked all the same.
func TestRebenchStopsAtFirstFailure(t *testing.T) {
	row, err := parseRow([]byte(`{"instance_id":"a__b-1","repo":"a/b","base_commit":"c","patch":"p","test_patch":"t","problem_statement":"s",
		"FAIL_TO_PASS":["x"],"PASS_TO_PASS":[],"image_name":"i","install_config":{"log_parser":"parse_log_cargo","test_cmd":["cd /","echo first","exit 4","echo second"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	task := sweRebenchTask(row)
	if row.err != nil {
		t.Fatal(row.err)
	}
	out, code := shell(t, t.TempDir(), task.TestCommand)
	if want := testlog.StartMarker + "\nfirst\n" + testlog.EndMarker + "\n"; out != want || code != 4 {
		t.Errorf("status %d, output %q, want 4 and %q", code, out, want)
	}
}

// TestRecordExit: the status behind the end is that of the tests, though the script
// tidies up and the shell traces.
func TestRecordExit(t *testing.T) {
	script := "#!/bin/bash\nset -uxo pipefail\n: '>>>>> Start Test Output'\n(exit 5)\n: '>>>>> End Test Output'\ntrue\n"
	out, code := shell(t, t.TempDir(), bash(recordExit(script)))
	results, err := testlog.Parse("pytest", out, testlog.Options{})
	if err != nil || code != 0 || results.Exit == nil || *results.Exit != 5 {
		t.Errorf("status %d, results %+v, %v, of\n%s", code, results, err, out)
	}
	if script := "echo no marker\n"; recordExit(script) != script {
		t.Error("a script without the marker is changed")
	}
}

func TestQuote(t *testing.T) {
	for _, text := range []string{"", "plain/path.py", "two words", "it's", "$(id)`id`\\\n\"*", "é", "~"} {
		if out, _ := shell(t, t.TempDir(), "printf %s "+quote(text)); out != text {
			t.Errorf("%q comes out as %q", text, out)
		}
	}
}

func TestHereDocument(t *testing.T) {
	for _, text := range []string{"a $HOME `id`\n", "no newline", "END_OF_TEXT\nEND_OF_TEXT_\n", "\r\n"} {
		want := strings.TrimSuffix(text, "\n") + "\n"
		if out, _ := shell(t, t.TempDir(), hereDocument("cat", text)); out != want {
			t.Errorf("%q comes out as %q", text, out)
		}
	}
}
