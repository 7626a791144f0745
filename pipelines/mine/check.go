package mine

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"millrace/schemas"
)

// Check returns a *RowError, without File and Line, that names the first thing
// that keeps a task from being run and scored by the key it has in a task file;
// nil when there is none. What passes can be written and is read again.
func Check(t schemas.Task) error {
	if err := check(t); err != nil {
		return err
	}
	return nil
}

// check returns the first thing that keeps a task from being run and scored, by
// the key that the field has in a task file; nil when there is none.
func check(t schemas.Task) *RowError {
	if t.Environment != "" {
		return &RowError{Field: "environment", Err: fmt.Errorf("is %q: tasks of a text environment come from the section tasks.environment of a configuration", t.Environment)}
	}
	for _, f := range []struct{ field, value string }{
		{"id", t.ID}, {"repo", t.Repo}, {"split", t.Split}, {"statement", t.Statement},
		{"test_command", t.TestCommand}, {"test_format", t.TestFormat},
	} {
		if strings.TrimSpace(f.value) == "" {
			return &RowError{Field: f.field, Err: errors.New("missing or blank")}
		}
	}
	if strings.ContainsFunc(t.ID, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return &RowError{Field: "id", Err: fmt.Errorf("%q holds a space or control character", t.ID)}
	}
	if t.Image == "" && len(t.Files) == 0 {
		return &RowError{Field: "files", Err: errors.New("no files and no image: the agent has nothing to work on")}
	}
	if t.Image == "" && len(t.HiddenTests) == 0 {
		return &RowError{Field: "hidden_tests", Err: errors.New("missing or empty")}
	}
	if err := checkFiles("files", t.Files); err != nil {
		return err
	}
	if err := checkFiles("hidden_tests", t.HiddenTests); err != nil {
		return err
	}
	if err := checkHidden(t); err != nil {
		return err
	}
	if err := checkImage(t); err != nil {
		return err
	}
	return checkExpected(t)
}

// checkFiles allows only paths that stay in the workspace, each once.
func checkFiles(field string, files []schemas.File) *RowError {
	seen := map[string]bool{}
	for i, f := range files {
		at := fmt.Sprintf("%s[%d].path", field, i)
		if !fs.ValidPath(f.Path) || f.Path == "." || strings.ContainsAny(f.Path, "\\\x00") {
			return &RowError{Field: at, Err: fmt.Errorf("%q is not a slash-separated path in the workspace", f.Path)}
		}
		if seen[f.Path] {
			return &RowError{Field: at, Err: fmt.Errorf("%q occurs twice", f.Path)}
		}
		seen[f.Path] = true
	}
	return nil
}

// checkHidden keeps invariant 4 where the task is made: the agent never sees the
// tests.
func checkHidden(t schemas.Task) *RowError {
	content := map[string]int{}
	for i, h := range t.HiddenTests {
		if strings.TrimSpace(h.Content) != "" {
			content[h.Content] = i + 1
		}
	}
	for i, f := range t.Files {
		if n := content[f.Content]; n > 0 {
			return &RowError{Field: fmt.Sprintf("files[%d]", i), Err: fmt.Errorf("%s is the hidden test %s: the agent would see it", f.Path, t.HiddenTests[n-1].Path)}
		}
	}
	return nil
}

// checkExpected wants at least one fail-to-pass test, without which no patch
// could be told from none, and each test in one list only. Where a rule compares
// statuses, those take the place of the lists.
func checkExpected(t schemas.Task) *RowError {
	if len(t.FailToPass) == 0 && len(t.Expected) == 0 {
		return &RowError{Field: "fail_to_pass", Err: errors.New("missing or empty")}
	}
	seen := map[string]string{}
	for _, list := range []struct {
		field string
		names []string
	}{{"fail_to_pass", t.FailToPass}, {"pass_to_pass", t.PassToPass}} {
		for i, name := range list.names {
			at := fmt.Sprintf("%s[%d]", list.field, i)
			if strings.TrimSpace(name) == "" {
				return &RowError{Field: at, Err: errors.New("blank test name")}
			}
			if other := seen[name]; other != "" {
				return &RowError{Field: at, Err: fmt.Errorf("%q is also in %s", name, other)}
			}
			seen[name] = list.field
		}
	}
	return nil
}
