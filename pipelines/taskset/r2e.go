package taskset

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"millrace/schemas"
)

// r2eColumns are the columns of R2E-Gym (Subset, Lite, V1) that make a task. The
// others are statistics, the prompt that wrote the statement, and logs.
var r2eColumns = []string{"repo_name", "docker_image", "commit_hash", "parsed_commit_content", "problem_statement", "expected_output_json"}

// r2eTestSeconds is the limit that R2E-Gym and DeepSWE give the tests of a reward.
const r2eTestSeconds = 300

// r2eWithheld are what R2E-Gym hides from the agent: the tests and the script that
// runs them, where r2eSetup puts them, and the files about the commit that early
// images hold.
var r2eWithheld = []string{
	"/r2e_tests", "/run_tests.sh", "/testbed/r2e_tests", "/testbed/run_tests.sh",
	"/testbed/syn_issue.json", "/testbed/expected_test_output.json", "/testbed/execution_result.json",
	"/testbed/parsed_commit.json", "/testbed/modified_files.json", "/testbed/modified_entities.json",
}

// r2eSetup puts tests and script outside of the repository, whichever of the two
// places an image has them in, and removes what Python compiled of them.
const r2eSetup = `set -e
if [ -e r2e_tests ] && [ ! -e /r2e_tests ]; then mv r2e_tests /r2e_tests; fi
if [ -e run_tests.sh ] && [ ! -e /run_tests.sh ]; then mv run_tests.sh /run_tests.sh; fi
for dir in . /r2e_tests; do
  if [ -d "$dir" ]; then find "$dir" -name .venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +; fi
done
` + cutHistory

// r2ePath has the repository's environment in front, as R2E-Gym has it by links.
const r2ePath = "PATH=/testbed/.venv/bin:/root/.local/bin:/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// r2eTask: the image stands at the parent of the commit that repairs the fault. The
// tests lie in it, run_tests.sh runs them from r2e_tests, and the reward compares
// the status of every one with that at the repaired commit, where some fail.
func r2eTask(r *row) schemas.Task {
	repo, commit := r.required("repo_name"), r.required("commit_hash")
	gold := r2eCommit(r)
	return schemas.Task{
		ID: fmt.Sprintf("%s/r2e/%s", repo, commit), Repo: repo,
		Statement: issueText(r.required("problem_statement")),
		Image:     r.required("docker_image"), Workdir: testbed, BaseCommit: gold.base,
		Setup: r2eSetup, Withheld: slices.Clone(r2eWithheld), Env: []string{r2ePath},
		TestCommand: bashTests([]string{"rm -rf r2e_tests run_tests.sh", "ln -s /r2e_tests r2e_tests"}, "bash /run_tests.sh"),
		TestFormat:  formatR2E, Rule: ruleR2E, Expected: r2eExpected(r), TestSeconds: r2eTestSeconds,
		GoldPatch: gold.patch,
	}
}

var issue = regexp.MustCompile(`(?s)\[ISSUE\](.*)\[/ISSUE\]`)

// issueText is what stands between the issue marks, or all where there are none.
func issueText(statement string) string {
	if m := issue.FindStringSubmatch(statement); m != nil {
		statement = m[1]
	}
	return strings.TrimSpace(statement)
}

// r2eExpected are the statuses at the repaired commit, sorted by test. A test may
// have the empty name: R2E-Gym makes it of a file that could not be collected, and
// its rule counts it.
func r2eExpected(r *row) []schemas.Expectation {
	const column = "expected_output_json"
	statuses := map[string]string{}
	r.object(column, &statuses)
	if len(statuses) == 0 {
		r.fail(column, errMissing)
	}
	var out []schemas.Expectation
	for _, test := range slices.Sorted(maps.Keys(statuses)) {
		switch status := statuses[test]; status {
		case "PASSED", "FAILED", "ERROR":
			out = append(out, schemas.Expectation{Test: test, Status: status})
		default:
			r.fail(column, fmt.Errorf("%q is %q: there are PASSED, FAILED and ERROR", test, status))
		}
	}
	return out
}
