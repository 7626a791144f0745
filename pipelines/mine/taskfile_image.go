package mine

import (
	"errors"
	"fmt"
	"strings"

	"millrace/schemas"
)

// imageRow holds the keys of a row that tasks with a container image need. They
// stand behind the others, and are left out when they are empty, so that a row
// without them reads and writes as it always did.
type imageRow struct {
	BaseCommit  string           `json:"base_commit,omitempty"`
	Workdir     string           `json:"workdir,omitempty"`
	Setup       string           `json:"setup,omitempty"`
	Withheld    []string         `json:"withheld,omitempty"`
	Env         []string         `json:"env,omitempty"`
	Network     bool             `json:"network,omitempty"`
	TestPatch   string           `json:"test_patch,omitempty"`
	TestFiles   []string         `json:"test_files,omitempty"`
	Rule        string           `json:"rule,omitempty"`
	Expected    []expectationRow `json:"expected,omitempty"`
	TestSeconds int32            `json:"test_seconds,omitempty"`
}

type expectationRow struct {
	Test   string `json:"test"`
	Status string `json:"status"`
}

func (r imageRow) put(t *schemas.Task) {
	t.BaseCommit, t.Workdir, t.Setup, t.Withheld, t.Env, t.Network = r.BaseCommit, r.Workdir, r.Setup, r.Withheld, r.Env, r.Network
	t.TestPatch, t.TestFiles, t.Rule, t.TestSeconds = r.TestPatch, r.TestFiles, r.Rule, r.TestSeconds
	for _, e := range r.Expected {
		t.Expected = append(t.Expected, schemas.Expectation(e))
	}
}

func imageRowOf(t schemas.Task) imageRow {
	r := imageRow{
		BaseCommit: t.BaseCommit, Workdir: t.Workdir, Setup: t.Setup, Withheld: t.Withheld, Env: t.Env, Network: t.Network,
		TestPatch: t.TestPatch, TestFiles: t.TestFiles, Rule: t.Rule, TestSeconds: t.TestSeconds,
	}
	for _, e := range t.Expected {
		r.Expected = append(r.Expected, expectationRow(e))
	}
	return r
}

// imageKeys turns the names of a task's fields into the keys of a row.
var imageKeys = strings.NewReplacer("TestSeconds", "test_seconds", "TestFiles", "test_files",
	"Workdir", "workdir", "Withheld", "withheld", "Env", "env")

// checkImage holds what a container image needs to the contract of schemas.Task,
// and expected statuses to one a test. A test may have the empty name, which
// R2E-Gym gives to a file that cannot be collected.
func checkImage(t schemas.Task) *RowError {
	var broken *schemas.InvalidError
	if err := t.Validate(); errors.As(err, &broken) {
		return &RowError{Field: imageKeys.Replace(broken.Field), Err: errors.New(broken.Problem)}
	} else if err != nil {
		return &RowError{Err: err}
	}
	first := map[string]int{}
	for i, e := range t.Expected {
		at := fmt.Sprintf("expected[%d].test", i)
		if j := first[e.Test]; j > 0 {
			return &RowError{Field: at, Err: fmt.Errorf("%q is also expected[%d]", e.Test, j-1)}
		}
		first[e.Test] = i + 1
		if strings.TrimSpace(e.Status) == "" {
			return &RowError{Field: fmt.Sprintf("expected[%d].status", i), Err: errors.New("missing or blank")}
		}
	}
	return nil
}
