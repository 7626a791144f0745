package score

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
	"millrace/transforms/sandbox"
)

// Every part of what the verdicts depend on changes the key, and only that.
func TestKey(t *testing.T) {
	base := func() (setting, schemas.Task) {
		return setting{
			spec:  sandbox.Spec{Files: []schemas.File{{Path: "a", Content: "bc"}}, Image: "i", Setup: "s", Env: []string{"A=b"}},
			patch: "p", testPatch: "q", hidden: []schemas.File{{Path: "h", Content: "h"}},
		}, aTask("x\n")
	}
	key := func(change func(*setting, *schemas.Task)) string {
		e, task := base()
		change(&e, &task)
		return e.key("env", "digest", task)
	}
	same := key(func(*setting, *schemas.Task) {})
	for name, k := range map[string]string{
		"id":           key(func(_ *setting, t *schemas.Task) { t.ID = "other" }),
		"snapshot":     key(func(_ *setting, t *schemas.Task) { t.Files = nil }),
		"expectations": key(func(_ *setting, t *schemas.Task) { t.PassToPass = []string{"TestX"} }),
		"rule":         key(func(_ *setting, t *schemas.Task) { t.Rule = "r2e" }),
	} {
		if k != same {
			t.Errorf("another %s changes the key", name)
		}
	}
	e, task := base()
	for name, k := range map[string]string{
		"environment":      e.key("other", "digest", task),
		"digest":           e.key("env", "other", task),
		"image":            key(func(e *setting, _ *schemas.Task) { e.spec.Image = "j" }),
		"setup":            key(func(e *setting, _ *schemas.Task) { e.spec.Setup = "t" }),
		"workdir":          key(func(e *setting, _ *schemas.Task) { e.spec.Workdir = "/w" }),
		"variables":        key(func(e *setting, _ *schemas.Task) { e.spec.Env = nil }),
		"network":          key(func(e *setting, _ *schemas.Task) { e.spec.Network = true }),
		"patch":            key(func(e *setting, _ *schemas.Task) { e.patch = "" }),
		"patch boundary":   key(func(e *setting, _ *schemas.Task) { e.patch, e.testPatch = "pq", "" }),
		"hidden test":      key(func(e *setting, _ *schemas.Task) { e.hidden[0].Content = "g" }),
		"time limit":       key(func(_ *setting, t *schemas.Task) { t.TestSeconds = 9 }),
		"command":          key(func(_ *setting, t *schemas.Task) { t.TestCommand = "c" }),
		"format":           key(func(_ *setting, t *schemas.Task) { t.TestFormat = "f" }),
		"path":             key(func(e *setting, _ *schemas.Task) { e.spec.Files[0].Path = "b" }),
		"content":          key(func(e *setting, _ *schemas.Task) { e.spec.Files[0].Content = "bd" }),
		"boundary":         key(func(e *setting, _ *schemas.Task) { e.spec.Files[0] = schemas.File{Path: "ab", Content: "c"} }),
		"files":            key(func(e *setting, _ *schemas.Task) { e.spec.Files = nil }),
		"list boundary":    key(func(e *setting, _ *schemas.Task) { e.spec.Files, e.hidden = append(e.spec.Files, e.hidden...), nil }),
		"command boundary": key(func(_ *setting, t *schemas.Task) { t.TestCommand += t.TestFormat; t.TestFormat = "" }),
	} {
		if k == same {
			t.Errorf("another %s leaves the key as it is", name)
		}
	}
}

// diff is a patch that gives each path its content.
func diff(contents map[string]string) string {
	var after []schemas.File
	for _, path := range slices.Sorted(maps.Keys(contents)) {
		after = append(after, schemas.File{Path: path, Content: contents[path]})
	}
	return sandbox.Diff(nil, after)
}

// TestPatchWithoutTests: a patch reaches nothing that belongs to the tests
// (invariant 4).
func TestPatchWithoutTests(t *testing.T) {
	task := schemas.Task{
		Image: "i", TestFormat: "pytest", TestFiles: []string{"tests/restored.py"},
		HiddenTests: []schemas.File{{Path: "tests/hidden.py"}},
		TestPatch:   diff(map[string]string{"tests/patched.py": "x\n"}),
	}
	all := map[string]string{
		"src/a.py": "1\n", "tests/restored.py": "1\n", "tests/hidden.py": "1\n", "tests/patched.py": "1\n",
		"conftest.py": "1\n", "src/conftest.py": "1\n", "sitecustomize.py": "1\n", "pytest.ini": "1\n",
		"a_test.go": "1\n", "tests/own.py": "1\n", "odd \"name\".py": "1\n",
	}
	for format, want := range map[string][]string{
		"pytest":       {"a_test.go", "odd \"name\".py", "src/a.py", "tests/own.py"},
		"go-test-json": {"odd \"name\".py", "src/a.py", "tests/own.py"},
	} {
		task.TestFormat = format
		e, err := settingOf(task, diff(all))
		if err != nil {
			t.Fatal(err)
		}
		files, err := sandbox.Apply(nil, e.patch)
		if err != nil {
			t.Fatalf("%v of\n%s", err, e.patch)
		}
		var got []string
		for _, f := range files {
			got = append(got, f.Path)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: kept (-want +got):\n%s", format, diff)
		}
	}
	if _, err := settingOf(task, "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n"); err == nil {
		t.Error("a patch that cannot be read was taken")
	}
}

// shelf is a workspace in memory without tools.
type shelf struct {
	sandbox.Sandbox
	files    map[string]string
	commands []string
	exec     func(s *shelf, command string) int
}

func (s *shelf) ReadFile(name string) ([]byte, error) {
	text, ok := s.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (s *shelf) WriteFile(name string, data []byte) error {
	s.files[name] = string(data)
	return nil
}

func (s *shelf) Remove(name string) error {
	if _, ok := s.files[name]; !ok {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	delete(s.files, name)
	return nil
}

func (s *shelf) Exec(_ context.Context, command string, _ time.Duration) (sandbox.Result, error) {
	s.commands = append(s.commands, command)
	return sandbox.Result{ExitCode: s.exec(s, command), Output: "does not fit"}, nil
}

// TestApply: a patch is applied whole or not at all, by our own hand where it
// fits to the letter, else by the first tool that can.
func TestApply(t *testing.T) {
	before := map[string]string{"a": "1\n2\n3\n", "gone": "x\n"}
	patch := sandbox.Diff(
		[]schemas.File{{Path: "a", Content: "1\n2\n3\n"}, {Path: "gone", Content: "x\n"}},
		[]schemas.File{{Path: "a", Content: "1\nTWO\n3\n"}, {Path: "new", Content: "n\n"}})
	after := map[string]string{"a": "1\nTWO\n3\n", "new": "n\n"}
	never := func(*shelf, string) int { return 1 }
	for _, c := range []struct {
		name     string
		files    map[string]string
		exec     func(*shelf, string) int
		want     map[string]string
		commands int
		err      error
	}{
		{"to the letter", before, never, after, 0, nil},
		{"by the second tool", map[string]string{"a": "0\n", "gone": "x\n"}, func(s *shelf, command string) int {
			if s.files[patchFile] != patch {
				return 9
			}
			s.files["a"] = "half done\n"
			if strings.Contains(command, "--3way") {
				s.files["a"] = "done\n"
				return 0
			}
			return 1
		}, map[string]string{"a": "done\n", "gone": "x\n"}, 2, nil},
		{"by none", map[string]string{"a": "0\n"}, func(s *shelf, _ string) int {
			s.files["a"], s.files["new"] = "half done\n", "n\n"
			return 1
		}, map[string]string{"a": "0\n"}, 3, sandbox.ErrPatch},
	} {
		s := &shelf{files: maps.Clone(c.files), exec: c.exec}
		if err := apply(t.Context(), s, patch); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, s.files); diff != "" || len(s.commands) != c.commands {
			t.Errorf("%s: %d commands, files (-want +got):\n%s", c.name, len(s.commands), diff)
		}
	}
	modes := &shelf{files: map[string]string{"it's": "x\n"}, exec: func(*shelf, string) int { return 0 }}
	mode := sandbox.DiffChanges([]sandbox.Change{{Path: "it's", Before: &sandbox.Content{Text: "x\n"}, After: &sandbox.Content{Text: "x\n", Executable: true}}})
	if err := apply(t.Context(), modes, mode); err != nil || len(modes.commands) != 1 || modes.commands[0] != `chmod a+x -- 'it'\''s'` {
		t.Errorf("a mode: %v, %q", err, modes.commands)
	}
	if err := apply(t.Context(), nil, " \n"); err != nil {
		t.Errorf("no patch: %v", err)
	}
}
