package taskset

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"millrace/schemas"
)

// sweSmithColumns are the columns of SWE-smith that make a task.
var sweSmithColumns = []string{"instance_id", "repo", "patch", "image_name", "problem_statement", "FAIL_TO_PASS", "PASS_TO_PASS", "base_commit", "split"}

// sweSmithSeconds is the limit that SWE-smith gives a run of the tests.
const sweSmithSeconds = 120

// withheldTests is where the tests that must fail wait, outside of the repository.
const withheldTests = "/withheld_tests"

// smithPytest is the test command of the repositories in Python, with the exceptions
// of smithCommands.
const smithPytest = "pytest --disable-warnings --color=no --tb=no --verbose"

// smithCommands are the repositories in Python with a test command, or a form of its
// output, of their own (SWE-smith cf2e649, swesmith/constants.py and
// harness/log_parsers.py, MIT).
var smithCommands = map[string]struct{ command, format string }{
	"jax-ml/jax":        {smithPytest + " -n auto", formatSWESmith},
	"mido/mido":         {smithPytest + " -rs -c /dev/null", formatSWESmith},
	"paramiko/paramiko": {"pytest -rA --color=no --disable-warnings", formatPytest},
	"pydantic/pydantic": {"/root/.local/bin/uv run " + smithPytest, formatSWESmith},
}

// smithForeign are repositories whose tests no format of package testlog reads: each
// has a parser of its own there.
var smithForeign = []string{"hips/autograd", "python/mypy", "tornadoweb/tornado", "un33k/python-slugify"}

// sweSmithTask: the image holds the sound repository, patch is the fault, and the
// gold patch its reverse. Statement is the issue; a row that has none yet is not a
// task.
func sweSmithTask(r *row) schemas.Task {
	t := schemas.Task{
		ID: r.required("instance_id"), Repo: r.optional("repo"), Split: r.optional("split"),
		Statement: r.required("problem_statement"), Image: smithImage(r.required("image_name")),
		Workdir: testbed, Withheld: []string{withheldTests}, TestSeconds: sweSmithSeconds,
		FailToPass: r.requiredNames("FAIL_TO_PASS"), PassToPass: r.names("PASS_TO_PASS"), Rule: ruleSWESmith,
	}
	if t.Repo == "" {
		t.Repo = t.ID // the id begins with the repository
	}
	t.Repo = CanonicalRepo(t.Repo)
	fault, err := parseDiff(r.required("patch"))
	if err == nil {
		t.GoldPatch, err = fault.reversed()
	}
	if err != nil {
		r.fail("patch", err)
	}
	if r.err != nil {
		return t
	}
	switch {
	case slices.Contains(smithForeign, strings.ToLower(t.Repo)):
		r.fail("repo", fmt.Errorf("the tests of %s are read by a parser of its own, which is not known", t.Repo))
	case allNames(t.FailToPass, pytestName):
		smithPython(&t, r.optional("patch"), fault)
	case allNames(t.FailToPass, goName):
		smithGo(&t, r.optional("patch"), fault)
	default:
		r.fail("FAIL_TO_PASS", fmt.Errorf("%q is no test of pytest or of go test; of other languages each repository has a test command of its own, which the row does not have", t.FailToPass[0]))
	}
	return t
}

// smithImage is the name of an image on Docker Hub. Early rows have it without the
// namespace, and with the two underscores that Docker Hub does not take.
func smithImage(name string) string {
	if strings.Contains(name, "/") || name == "" {
		return name
	}
	return "swebench/" + strings.ReplaceAll(name, "__", "_1776_")
}

var (
	pytestName = regexp.MustCompile(`^[^:]+\.py::`)
	goName     = regexp.MustCompile(`^(Test|Example|Fuzz|Benchmark)[^ :]*$`)
)

// allNames tells whether there are names and all match.
func allNames(names []string, match *regexp.Regexp) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !match.MatchString(n) })
}

// smithPython runs the files of all tests that count. Those that hold a test that
// must fail are hidden, which is what SWE-smith's second commit does.
func smithPython(t *schemas.Task, patch string, fault diff) {
	hidden, other := testFiles(t.FailToPass), testFiles(t.PassToPass)
	t.TestFiles = slices.DeleteFunc(other, func(f string) bool { return slices.Contains(hidden, f) })
	var hide strings.Builder
	for _, f := range hidden {
		fmt.Fprintf(&hide, "hide %s\n", quote(f))
	}
	t.Setup = smithSetup(patch, fault, hide.String())
	how, own := smithCommands[strings.ToLower(t.Repo)]
	if !own {
		how.command, how.format = smithPytest, formatSWESmith
	}
	t.TestFormat = how.format
	t.TestCommand = bashTests([]string{activateConda, restoreTests}, how.command+" "+quoteAll(slices.Sorted(slices.Values(slices.Concat(hidden, t.TestFiles)))))
}

// testFiles are the files of pytest's names, each once, sorted.
func testFiles(names []string) []string {
	var out []string
	for _, name := range names {
		if file, _, ok := strings.Cut(name, "::"); ok {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// restoreTests puts the hidden tests back, whatever the agent left in their place.
const restoreTests = "cp -a " + withheldTests + "/. ."

// smithGo finds the files by the functions that the names begin with, in the image,
// since the row does not name them.
func smithGo(t *schemas.Task, patch string, fault diff) {
	var functions []string
	for _, name := range t.FailToPass {
		function, _, _ := strings.Cut(name, "/")
		functions = append(functions, regexp.QuoteMeta(function))
	}
	slices.Sort(functions)
	pattern := fmt.Sprintf(`^func (%s)\(`, strings.Join(slices.Compact(functions), "|"))
	t.Setup = smithSetup(patch, fault, fmt.Sprintf(
		"grep -rlE --include='*_test.go' %s . | while read -r file; do hide \"${file#./}\"; done\n", quote(pattern)))
	t.TestFormat = formatSWESmithGo
	t.TestCommand = bashTests([]string{"cd " + testbed, "git checkout -q HEAD -- '*_test.go'", restoreTests}, "go test -v ./...")
}

// smithSetup brings in the fault, hides tests, and makes what is left the one commit
// of the repository, so that no history holds what was before. Nor does what Python
// compiled of it.
func smithSetup(patch string, fault diff, hide string) string {
	add := ""
	if files := fault.after(); len(files) > 0 {
		add = "git add -f -- " + quoteAll(files) + "\n"
	}
	return "set -e\n" + hereDocument("git apply --whitespace=nowarn", patch) + add +
		fmt.Sprintf("hide() { mkdir -p %[1]s/\"$(dirname \"$1\")\"; mv \"$1\" %[1]s/\"$1\"; }\n", withheldTests) + hide +
		`find . -name __pycache__ -type d -prune -exec rm -rf {} +
git add -u
commit=$(git -c user.name=millrace -c user.email=millrace@localhost commit-tree -m snapshot "$(git write-tree)")
git update-ref --no-deref HEAD "$commit"
` + cutHistory
}
