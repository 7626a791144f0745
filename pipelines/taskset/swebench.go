package taskset

import (
	"errors"
	"fmt"
	"strings"

	"millrace/schemas"
	"millrace/transforms/testlog"
)

// sweBenchColumns are the columns of SWE-bench's rows that make a task. docker_image
// is of R2E-Gym's copy; image, eval_script, log_parser and eval_type are of rows for
// the harness of version 5.
var sweBenchColumns = []string{
	"instance_id", "repo", "base_commit", "version", "patch", "test_patch", "problem_statement", "FAIL_TO_PASS", "PASS_TO_PASS",
	"docker_image", "image", "eval_script", "log_parser", "eval_type", "image_assets", "split",
}

// sweBenchSeconds is the harness's limit of the whole evaluation.
const sweBenchSeconds = 1800

// sweBenchTask: the image holds the repository at base_commit and no test; the test
// patch brings them. A row of version 5 says how it is evaluated; for one of version
// 4 the tables of swebench_commands.go do.
func sweBenchTask(r *row) schemas.Task {
	t := schemas.Task{
		ID: r.required("instance_id"), Repo: r.required("repo"), Split: r.optional("split"),
		Statement: r.required("problem_statement"), BaseCommit: r.required("base_commit"),
		Workdir: testbed, Setup: "set -e\n" + cutHistory,
		FailToPass: r.requiredNames("FAIL_TO_PASS"), PassToPass: r.names("PASS_TO_PASS"), GoldPatch: r.required("patch"),
		Network: true, TestSeconds: sweBenchSeconds,
	}
	if r.has("eval_script") {
		version5(r, &t)
	} else {
		version4(r, &t)
	}
	return t
}

// version4 says how the harness of version 4 evaluates.
func version4(r *row, t *schemas.Task) {
	t.TestPatch = r.required("test_patch")
	t.TestFiles = patchedFiles(t.TestPatch)
	t.Rule = ruleSWEBench
	t.Image = r.optional("docker_image")
	if t.Image == "" {
		t.Image = "swebench/sweb.eval.x86_64." + strings.ReplaceAll(strings.ToLower(t.ID), "__", "_1776_") + ":latest"
	} else {
		t.Withheld = []string{"/run_tests.sh"} // R2E-Gym's images hold a script that names the tests
	}
	version := r.required("version")
	e, known := eraOf(t.Repo, version)
	if !known {
		r.fail("version", fmt.Errorf("no test command is known of %s %s; a row for the harness of version 5 has it in eval_script", t.Repo, version))
		return
	}
	format, err := testlog.FormatOfRepo(t.Repo, t.ID)
	if err != nil {
		r.fail("repo", err)
		return
	}
	t.TestFormat = format
	tests := directives(t.Repo, t.TestFiles)
	if len(tests) == 0 {
		r.fail("test_patch", errors.New("names no file that holds tests"))
	}
	prepare := append([]string{activateConda}, e.prepare...)
	t.TestCommand = bashTests(append(prepare, e.install), e.test+" "+quoteAll(tests))
}

// version5 takes what the row says. Its script restores the test files and applies
// the test patch by itself, which can be done once, so the task has neither.
func version5(r *row, t *schemas.Task) {
	t.Image = r.required("image")
	script := r.required("eval_script")
	if testPatch := r.optional("test_patch"); !strings.Contains(script, strings.TrimSpace(testPatch)) {
		t.TestPatch, t.TestFiles = testPatch, patchedFiles(testPatch)
	}
	t.TestCommand = bash("exec 2>&1\n" + recordExit(script))
	switch evaluation := r.required("eval_type"); evaluation {
	case "pass_and_fail":
		t.Rule = ruleSWEBench5
	case "fail_only":
		t.Rule = ruleFailOnly
	default:
		r.fail("eval_type", fmt.Errorf("%q: there are pass_and_fail and fail_only", evaluation))
	}
	var err error
	if t.TestFormat, err = testlog.FormatOf(r.required("log_parser")); err != nil {
		r.fail("log_parser", err)
	}
	var assets struct {
		TestPatch []struct {
			Path string `json:"path"`
		} `json:"test_patch"`
	}
	if r.object("image_assets", &assets); len(assets.TestPatch) > 0 {
		r.fail("image_assets", fmt.Errorf("the tests need %s, which a patch cannot hold and the row only links to", assets.TestPatch[0].Path))
	}
}

// recordExit makes a script print the exit status of the tests behind their end, as
// version 5 does: the script's own status is that of what it tidies up. A script
// without the marker stays as it is.
func recordExit(script string) string {
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		if strings.Contains(line, testlog.EndMarker) {
			before := strings.Join(append(lines[:i:i], "MILLRACE_STATUS=$?", line), "\n")
			after := append([]string{fmt.Sprintf(`echo "%s: $MILLRACE_STATUS"`, testlog.ExitMarker)}, lines[i+1:]...)
			return before + "\n" + strings.Join(after, "\n")
		}
	}
	return script
}
