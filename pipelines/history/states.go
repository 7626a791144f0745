package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"millrace/pipelines/gomodule"
	"millrace/pipelines/prove"
	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/testlog"
)

// states are the module around a commit.
type states struct {
	before, after gomodule.Module
	// tested is before with the test files of after: what an agent that does nothing
	// is scored on.
	tested gomodule.Module
}

// states reads the module before and after a commit, or says why there is none. The
// error is about the machine, or about dependencies that could not be had.
func (w *Work) states(ctx context.Context, c Commit) (s states, reason prove.Reason, detail string, err error) {
	for _, side := range []struct {
		commit string
		m      *gomodule.Module
	}{{c.Parent, &s.before}, {c.Hash, &s.after}} {
		files, _, err := w.repo.Files(ctx, side.commit)
		if err != nil {
			return s, "", "", err
		}
		if *side.m, err = gomodule.Of(ctx, files); err != nil {
			var missing *gomodule.VendorError
			if errors.As(err, &missing) {
				return s, "", "", fmt.Errorf("commit %s: %w", side.commit, err)
			}
			return s, NoModule, err.Error(), nil
		}
	}
	if s.before.Vendored || s.after.Vendored {
		for _, name := range []string{"go.mod", "go.sum"} {
			was, _ := s.before.File(name)
			if is, _ := s.after.File(name); was != is {
				return s, Dependencies, name, nil
			}
		}
	}
	for _, f := range c.Files {
		if text, ok := s.after.File(f.Path); ok && gomodule.IsSource(f.Path) && strings.Count(text, "\n") > maxFileLines {
			return s, Huge, f.Path, nil
		}
	}
	s.tested = s.before
	s.tested.Files = nil
	for _, f := range s.before.Files {
		if !s.replaced(c, f.Path) {
			s.tested.Files = append(s.tested.Files, f)
		}
	}
	for _, f := range s.after.Files {
		if s.replaced(c, f.Path) {
			s.tested.Files = append(s.tested.Files, f)
		}
	}
	return s, prove.None, "", nil
}

// replaced reports whether a file is the scorer's: a test file that the commit
// changed, or a dependency, of which after has those of its tests too.
func (s states) replaced(c Commit, name string) bool {
	if strings.HasPrefix(name, "vendor/") {
		return true
	}
	if !gomodule.IsTest(name) {
		return false
	}
	for _, f := range c.Files {
		if f.Path == name {
			return true
		}
	}
	return false
}

// task makes the task of a valid commit. The agent sees the test files as they were
// before; those that the commit removed it does not see, since the scorer could not
// take them away.
func (w *Work) task(c prove.Candidate, commit Commit, s states, v prove.Verdict) schemas.Task {
	t := schemas.Task{
		ID: c.ID, Repo: w.config.Name, Split: w.config.Split, BaseCommit: commit.Parent,
		Statement:   Statement(commit.Message, w.issues),
		TestCommand: w.suite.Command(s.after, v.Selection), TestFormat: testlog.GoTestJSON,
		FailToPass: prove.Names(v.FailToPass), PassToPass: prove.Names(v.PassToPass),
	}
	for _, f := range s.after.Files {
		if s.replaced(commit, f.Path) && !strings.HasPrefix(f.Path, "vendor/") {
			t.HiddenTests = append(t.HiddenTests, f)
		}
	}
	var was, is []schemas.File
	for _, f := range s.before.Files {
		if strings.HasPrefix(f.Path, "vendor/") {
			continue
		}
		if _, kept := s.after.File(f.Path); kept || !s.replaced(commit, f.Path) {
			t.Files = append(t.Files, f)
		}
		if !s.replaced(commit, f.Path) {
			was = append(was, f)
		}
	}
	for _, f := range s.after.Files {
		switch {
		case strings.HasPrefix(f.Path, "vendor/"):
			t.Files = append(t.Files, f)
		case !s.replaced(commit, f.Path):
			is = append(is, f)
		}
	}
	t.GoldPatch = sandbox.Diff(was, is)
	return t
}
