package faults

import (
	"context"
	"path"
	"slices"
	"strings"

	"millrace/pipelines/gomodule"
	"millrace/pipelines/prove"
	"millrace/schemas"
	"millrace/transforms/sandbox"
	"millrace/transforms/testlog"
)

// judge decides on a candidate by the outcome of its tests.
func (w *Work) judge(ctx context.Context, c prove.Candidate, s spec, faulty gomodule.Module, sel prove.Selection, o prove.Outcome) (prove.Decision, error) {
	if len(o.FailedBuilds) > 0 {
		return c.Reject(prove.NoCompile, "does not build: "+strings.Join(o.FailedBuilds, " ")), nil
	}
	v, err := w.suite.Judge(ctx, c.ID, w.reference, w.module, sel, o)
	if err != nil || v.Reason != prove.None {
		return c.Reject(v.Reason, v.Detail), err
	}
	task := w.task(c, s, faulty, o, v)
	return prove.Decision{ID: c.ID, Origin: c.Origin, Task: &task}, nil
}

// task makes the task of a valid candidate.
func (w *Work) task(c prove.Candidate, s spec, faulty gomodule.Module, o prove.Outcome, v prove.Verdict) schemas.Task {
	hidden := faulty.HiddenFiles(tests(v.FailToPass))
	t := schemas.Task{
		ID: c.ID, Repo: w.module.Path, Split: w.config.Split,
		TestCommand: w.suite.Command(w.module, v.Selection), TestFormat: testlog.GoTestJSON,
		FailToPass: prove.Names(v.FailToPass), PassToPass: prove.Names(v.PassToPass),
	}
	for _, f := range faulty.Files {
		if slices.Contains(hidden, f.Path) {
			t.HiddenTests = append(t.HiddenTests, f)
		} else {
			t.Files = append(t.Files, f)
		}
	}
	before, _ := faulty.File(s.File)
	after, _ := w.module.File(s.File)
	t.GoldPatch = sandbox.Diff(
		[]schemas.File{{Path: s.File, Content: before}},
		[]schemas.File{{Path: s.File, Content: after}},
	)
	t.Statement = prove.Report(w.module.ImportPath(path.Dir(s.File)), o, v.FailToPass,
		slices.Concat(prove.Names(v.FailToPass), w.module.Functions(), hidden, changedLines(t.GoldPatch)))
	return t
}

func tests(list []prove.Test) (out []gomodule.Test) {
	for _, t := range list {
		out = append(out, t.Test)
	}
	return out
}

// changedLines returns what a patch removes and adds, line by line.
func changedLines(patch string) (out []string) {
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ") || line[0] != '+' && line[0] != '-' {
			continue
		}
		out = append(out, strings.TrimSpace(line[1:]))
	}
	return out
}
