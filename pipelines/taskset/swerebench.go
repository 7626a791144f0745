package taskset

import (
	"encoding/json"
	"errors"
	"strings"

	"millrace/schemas"
	"millrace/transforms/testlog"
)

// sweRebenchColumns are the columns of SWE-rebench V2 that make a task.
var sweRebenchColumns = []string{
	"instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement", "interface",
	"FAIL_TO_PASS", "PASS_TO_PASS", "install_config", "image_name", "split",
}

// installConfig is how an instance is built and tested. What it says of building is
// in the image.
type installConfig struct {
	TestCmd   commands `json:"test_cmd"`
	LogParser string   `json:"log_parser"`
}

// commands is one command or a list.
type commands []string

// UnmarshalJSON takes both forms.
func (c *commands) UnmarshalJSON(data []byte) error {
	var one string
	if err := json.Unmarshal(data, &one); err == nil {
		*c = commands{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(c))
}

// sweRebenchTask: the image holds the built repository in a directory of its name.
// The test commands run one behind the other until one fails, in the network of the
// host, since build tools of many languages look for their dependencies.
func sweRebenchTask(r *row) schemas.Task {
	t := schemas.Task{
		ID: r.required("instance_id"), Repo: r.required("repo"), Split: r.optional("split"),
		Statement: r.required("problem_statement"), Image: r.required("image_name"), BaseCommit: r.required("base_commit"),
		Setup: "set -e\n" + cutHistory, Env: []string{"_JAVA_OPTIONS=-Djava.net.preferIPv6Addresses=false"}, Network: true,
		TestPatch: r.required("test_patch"), GoldPatch: r.required("patch"),
		FailToPass: r.requiredNames("FAIL_TO_PASS"), PassToPass: r.names("PASS_TO_PASS"), Rule: ruleSWERebench,
	}
	t.TestFiles = patchedFiles(t.TestPatch)
	if names := strings.TrimSpace(r.optional("interface")); names != "" {
		t.Statement += "\n\nThe tests use this interface:\n" + names
	}
	_, name, ok := strings.Cut(t.Repo, "/")
	if !ok || name == "" {
		r.fail("repo", errors.New("want owner/name: the name is the directory in the image"))
	}
	t.Workdir = "/" + name
	var config installConfig
	r.object("install_config", &config)
	tests := strings.TrimSpace(strings.Join(config.TestCmd, "\n"))
	if tests == "" {
		r.fail("install_config.test_cmd", errMissing)
	}
	t.TestCommand = bashTests(nil, "(\nset -e\n"+tests+"\n)")
	var err error
	if t.TestFormat, err = testlog.FormatOf(config.LogParser); err != nil {
		r.fail("install_config.log_parser", err)
	}
	return t
}
