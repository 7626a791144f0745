package mine

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

// imageTask has every field that a task with an image may have.
func imageTask() schemas.Task {
	return schemas.Task{
		ID: "a__b-1", Repo: "a/b", Split: "train", Statement: "B fails.", Image: "a/b:1",
		TestCommand: "make test", TestFormat: "pytest", FailToPass: []string{"t.py::x"}, PassToPass: []string{"t.py::y"}, GoldPatch: "diff",
		BaseCommit: "c0ffee", Workdir: "/testbed", Setup: "git gc", Withheld: []string{"/r2e_tests"}, Env: []string{"A=b=c", "B="},
		Network: true, TestPatch: "diff <>&", TestFiles: []string{"t.py"}, Rule: "r2e",
		Expected: []schemas.Expectation{{Test: "", Status: "ERROR"}, {Test: "x", Status: "FAILED"}}, TestSeconds: 300,
	}
}

// TestImageTask: what is written is read again, with keys in this order.
func TestImageTask(t *testing.T) {
	const want = `{"id":"a__b-1","repo":"a/b","split":"train","statement":"B fails.","image":"a/b:1","test_command":"make test","test_format":"pytest",` +
		`"fail_to_pass":["t.py::x"],"pass_to_pass":["t.py::y"],"gold_patch":"diff","base_commit":"c0ffee","workdir":"/testbed","setup":"git gc",` +
		`"withheld":["/r2e_tests"],"env":["A=b=c","B="],"network":true,"test_patch":"diff <>&","test_files":["t.py"],"rule":"r2e",` +
		`"expected":[{"test":"","status":"ERROR"},{"test":"x","status":"FAILED"}],"test_seconds":300}` + "\n"
	var out bytes.Buffer
	if err := Write(&out, []schemas.Task{imageTask()}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	tasks, bad, err := Read("set.jsonl", &out)
	if err != nil || len(bad) > 0 {
		t.Fatal(err, bad)
	}
	if diff := cmp.Diff([]schemas.Task{imageTask()}, tasks); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
}

// TestImageTaskRefused: a fault of a field is named by its key.
func TestImageTaskRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*schemas.Task)
		want   string
	}{
		{func(t *schemas.Task) { t.Workdir = "testbed" }, `workdir: is "testbed", not a clean absolute path below the root`},
		{func(t *schemas.Task) { t.Withheld = []string{"/a", "/"} }, `withheld[1]: is "/", not a clean absolute path below the root`},
		{func(t *schemas.Task) { t.TestFiles = []string{"../t.py"} }, `test_files[0]: is "../t.py", not a path below the workspace root`},
		{func(t *schemas.Task) { t.Env = []string{"=b"} }, `env[0]: is "=b", want KEY=value`},
		{func(t *schemas.Task) { t.TestSeconds = -1 }, "test_seconds: is -1, less than 0"},
		{func(t *schemas.Task) { t.Expected[1].Status = " " }, "expected[1].status: missing or blank"},
		{func(t *schemas.Task) { t.Expected[1].Test = "" }, `expected[1].test: "" is also expected[0]`},
		{func(t *schemas.Task) { t.FailToPass, t.Expected = nil, nil }, "fail_to_pass: missing or empty"},
		{func(t *schemas.Task) { t.Image = "" }, "files: no files and no image: the agent has nothing to work on"},
	} {
		task := imageTask()
		c.change(&task)
		err := Check(task)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	if err := Check(imageTask()); err != nil {
		t.Error(err)
	}
	onlyExpected := imageTask()
	onlyExpected.FailToPass, onlyExpected.PassToPass = nil, nil
	if err := Check(onlyExpected); err != nil {
		t.Errorf("expected statuses without lists: %v", err)
	}
}

// TestImageKeyOfWrongType: the key is named as it stands in the row.
func TestImageKeyOfWrongType(t *testing.T) {
	for text, want := range map[string]string{
		`"withheld":"/r2e_tests"`:   "withheld: want a list, found string",
		`"expected":[{"test":1}]`:   "expected.test: want a string, found number",
		`"test_seconds":3000000000`: "test_seconds: want a int32, found number 3000000000",
		`"expected":[{"tset":"a"}]`: `json: unknown field "tset"`,
		`"network":"yes"`:           "network: want a bool, found string",
	} {
		_, err := ParseRow([]byte(`{"id":"a","image":"i",` + text + `}`))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}
