package prove

import (
	"context"
	"slices"

	"millrace/pipelines/gomodule"
	"millrace/transforms/testlog"
)

// Verdict is what the tests say of a candidate.
type Verdict struct {
	// Reason is None for a task.
	Reason Reason
	Detail string
	// Selection is what a task's tests are, FailToPass and PassToPass what is expected
	// of them.
	Selection              Selection
	FailToPass, PassToPass []Test
}

// Judge decides on a candidate by the outcome of its tests. Working is the module that
// the reference is of; it runs once more where not all tests can be taken, since what
// runs with fewer others may come to something else. The error is about the machine.
func (s Suite) Judge(ctx context.Context, label string, r Reference, working gomodule.Module, sel Selection, o Outcome) (Verdict, error) {
	if o.Unbounded {
		return Verdict{Reason: Unbounded}, nil
	}
	failToPass, passToPass := r.Judge(o, sel.Dirs)
	if len(failToPass) == 0 {
		return Verdict{Reason: NoFailToPass}, nil
	}
	if len(passToPass) == 0 {
		return Verdict{Reason: NoPassToPass}, nil
	}
	v := Verdict{}
	var fits bool
	if v.Selection, v.FailToPass, v.PassToPass, fits = r.fit(sel, failToPass, passToPass, scorable()); !fits {
		return Verdict{Reason: LongOutput}, nil
	}
	if len(v.Selection.Functions) == 0 {
		return v, nil
	}
	alone, err := s.Run(ctx, label+", solved", working, v.Selection)
	if err != nil {
		return v, err
	}
	for _, t := range slices.Concat(v.FailToPass, v.PassToPass) {
		if alone.Status[t.Name] != testlog.Passed {
			return Verdict{Reason: Unsound, Detail: t.Name + " does not pass without the tests that print too much"}, nil
		}
	}
	return v, nil
}

// Names are the names of tests, in their order.
func Names(tests []Test) (out []string) {
	for _, t := range tests {
		out = append(out, t.Name)
	}
	return out
}
