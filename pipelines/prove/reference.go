package prove

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"millrace/pipelines/gomodule"
	"millrace/transforms/testlog"
)

// Test is a test or subtest that passes every time.
type Test struct {
	// Name is qualified by the package: import path, dot, test.
	Name string
	gomodule.Test
}

// Reference is what the tests of a module that works come to.
type Reference struct {
	// Tests are sorted by name.
	Tests []Test
	// bytes is the longest output of a test function with its subtests; overhead is
	// that of a package besides.
	bytes    map[gomodule.Test]int
	overhead map[string]int
}

// NewReference runs a selection several times (> 0). Tests that fail, are skipped or
// are missing in any of the runs are flaky and no part of it. The error is an
// *[UnfitError], or about the machine.
func NewReference(ctx context.Context, s Suite, label string, m gomodule.Module, sel Selection, runs int) (Reference, error) {
	r := Reference{bytes: map[gomodule.Test]int{}, overhead: map[string]int{}}
	passes := map[Test]int{}
	for run := range runs {
		o, err := s.Run(ctx, fmt.Sprintf("%s, run %d", label, run+1), m, sel)
		switch {
		case err != nil:
			return r, err
		case o.Unbounded:
			return r, &UnfitError{label, Unbounded, "they run into their limits"}
		case o.Truncated:
			return r, &UnfitError{label, LongOutput, fmt.Sprintf("they print more than %d MiB", OutputBytes>>20)}
		}
		bytes, overhead := map[gomodule.Test]int{}, map[string]int{}
		events(o.Output, func(e event, size int) {
			t := gomodule.Test{Dir: m.Dir(e.Package), Function: function(e.Test)}
			if e.Test == "" {
				overhead[t.Dir] += size
				return
			}
			bytes[t] += size
			if name := e.Package + "." + e.Test; e.Action == "pass" && o.Status[name] == testlog.Passed {
				passes[Test{name, t}]++
			}
		})
		for t, n := range bytes {
			r.bytes[t] = max(r.bytes[t], n)
		}
		for dir, n := range overhead {
			r.overhead[dir] = max(r.overhead[dir], n)
		}
	}
	for t, n := range passes {
		if n >= runs {
			r.Tests = append(r.Tests, t)
		}
	}
	slices.SortFunc(r.Tests, func(a, b Test) int { return cmp.Compare(a.Name, b.Name) })
	if len(r.Tests) == 0 {
		return r, &UnfitError{label, NoPassing, "none passes"}
	}
	return r, nil
}

// UnfitError says why tests cannot tell anything.
type UnfitError struct {
	Label  string
	Reason Reason
	Detail string
}

func (e *UnfitError) Error() string { return fmt.Sprintf("the tests of %s: %s", e.Label, e.Detail) }

// Judge sorts the tests of the packages in dirs by what they come to with the change:
// those that do not pass are fail-to-pass, the others pass-to-pass. A test that does
// not run, as after a panic in an earlier one, has not passed.
func (r Reference) Judge(o Outcome, dirs []string) (failToPass, passToPass []Test) {
	for _, t := range r.Tests {
		switch {
		case !slices.Contains(dirs, t.Dir):
		case o.Status[t.Name] == testlog.Passed:
			passToPass = append(passToPass, t)
		default:
			failToPass = append(failToPass, t)
		}
	}
	return failToPass, passToPass
}
