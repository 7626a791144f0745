package testlog

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// maxVerdicts bounds memory against a program that prints test names for ever;
	// pandas, the largest suite among the datasets, has about 200,000 tests.
	maxVerdicts = 1 << 18
	// maxName bounds one name, in bytes. Longer ones are no test's: the longest
	// that SWE-bench expects has less than a kilobyte.
	maxName = 16 << 10
)

// tally collects verdicts, each kept under its pair of names.
//
// Invariant: len(index) == len(verdicts) <= maxVerdicts.
type tally struct {
	compat   bool
	index    map[Verdict]int // of a verdict without status -> place in verdicts
	verdicts []Verdict
}

// add records a status. name may be empty or equal to test. A pair of names that was
// recorded before keeps the worse status; with compat, a test has the last one.
func (t *tally) add(test, name string, s Status) {
	if len(test) > maxName || len(name) > maxName {
		return
	}
	if t.compat || name == test {
		name = ""
	}
	key := Verdict{Test: test, Name: name}
	if i, known := t.index[key]; known {
		if t.compat || t.verdicts[i].Status == "" {
			t.verdicts[i].Status = s
		} else {
			t.verdicts[i].Status = worse(t.verdicts[i].Status, s)
		}
		return
	}
	if len(t.verdicts) >= maxVerdicts {
		return
	}
	// The log may be megabytes, and must not stay in memory for a few names in it.
	key.Test, key.Name = own(test), own(name)
	if key.Test != test || key.Name != name {
		if _, known := t.index[key]; known { // another spelling of invalid bytes
			t.add(key.Test, key.Name, s)
			return
		}
	}
	if t.index == nil {
		t.index = make(map[Verdict]int)
	}
	t.index[key] = len(t.verdicts)
	key.Status = s
	t.verdicts = append(t.verdicts, key)
}

// own returns a copy of s that is valid UTF-8.
func own(s string) string {
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}

// results returns the verdicts, sorted. A test that is still running has failed.
func (t *tally) results() []Verdict {
	for i := range t.verdicts {
		if t.verdicts[i].Status == "" {
			t.verdicts[i].Status = Failed
		}
	}
	slices.SortFunc(t.verdicts, func(a, b Verdict) int {
		return cmp.Or(strings.Compare(a.Test, b.Test), strings.Compare(a.Name, b.Name))
	})
	return t.verdicts
}
