package testlog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/schemas"
)

func verdicts(of ...Verdict) Results { return Results{Verdicts: of, Ran: len(of) > 0} }

// test makes verdicts "name STATUS"; "name@file STATUS" is one with a Name.
func test(specs ...string) Results {
	var vs []Verdict
	for _, spec := range specs {
		at := strings.LastIndexByte(spec, ' ')
		name, file, _ := strings.Cut(spec[:at], "@")
		v := Verdict{Test: name, Status: Status(spec[at+1:])}
		if file != "" {
			v.Name = file + "." + name
		}
		vs = append(vs, v)
	}
	return verdicts(vs...)
}

func number(n int) *int { return &n }

func TestRules(t *testing.T) {
	goTests := test("TestA@m PASSED", "TestB@m FAILED", "TestS@m SKIPPED", "TestSub@m PASSED", "TestSub/x@m PASSED",
		"TestA@m/v1.2/x PASSED", "TestTwice@m/y PASSED", "TestTwice@m/z FAILED", "TestPart@m/y PASSED", "TestPart@m/z SKIPPED")
	mixed := test("pass PASSED", "xfail XFAIL", "skip SKIPPED", "fail FAILED", "error ERROR", "cut[a b] PASSED", "cut[a c] XFAIL", "torn[a b] PASSED", "torn[a c] FAILED")
	with := func(r Results, change func(*Results)) Results { change(&r); return r }
	for name, tt := range map[string]struct {
		rule           string
		r              Results
		f2p, p2p       []string
		expected       []schemas.Expectation
		value          float64
		passed, failed []string
		void           bool
	}{
		"all passed":                   {r: goTests, f2p: []string{"TestA"}, p2p: []string{"TestSub", "TestSub/x"}, value: 1, passed: []string{"TestA", "TestSub", "TestSub/x"}},
		"one failed":                   {r: goTests, f2p: []string{"TestA"}, p2p: []string{"TestB"}, passed: []string{"TestA"}, failed: []string{"TestB"}},
		"fail to pass failed":          {r: goTests, f2p: []string{"TestB"}, p2p: []string{"TestA"}, passed: []string{"TestA"}, failed: []string{"TestB"}},
		"missing is failed":            {r: goTests, f2p: []string{"TestA", "TestGone"}, passed: []string{"TestA"}, failed: []string{"TestGone"}},
		"skipped is not passed":        {r: goTests, f2p: []string{"TestS"}, failed: []string{"TestS"}},
		"xfail is not passed":          {r: mixed, f2p: []string{"xfail"}, failed: []string{"xfail"}},
		"qualified":                    {r: goTests, f2p: []string{"m.TestA", "m/v1.2/x.TestA"}, value: 1, passed: []string{"m.TestA", "m/v1.2/x.TestA"}},
		"qualified by another package": {r: goTests, f2p: []string{"q.TestA"}, failed: []string{"q.TestA"}},
		"bare in two packages":         {r: goTests, f2p: []string{"TestTwice"}, failed: []string{"TestTwice"}},
		"bare, skipped in one":         {r: goTests, f2p: []string{"TestPart"}, value: 1, passed: []string{"TestPart"}},
		"that package alone":           {r: goTests, f2p: []string{"m/y.TestTwice"}, value: 1, passed: []string{"m/y.TestTwice"}},
		"in both lists":                {r: goTests, f2p: []string{"TestA"}, p2p: []string{"TestA"}, value: 1, passed: []string{"TestA"}},
		"nothing expected":             {r: goTests},
		"what a killed run has shown":  {r: with(goTests, func(r *Results) { r.TimedOut = true }), f2p: []string{"TestA"}, value: 1, passed: []string{"TestA"}},

		"v4: xfail passes, skipped drops out": {rule: "swe-bench", r: mixed, f2p: []string{"pass"}, p2p: []string{"xfail", "skip"}, value: 1, passed: []string{"pass", "xfail"}},
		"v4: error and absence fail":          {rule: "swe-bench", r: mixed, f2p: []string{"pass"}, p2p: []string{"error", "gone"}, passed: []string{"pass"}, failed: []string{"error", "gone"}},
		"v4: all skipped is nothing":          {rule: "swe-bench", r: mixed, f2p: []string{"skip"}},
		"v4: bad code":                        {rule: "swe-bench", r: Results{Void: "the log says Reset Failed"}, f2p: []string{"pass"}, failed: []string{"pass"}, void: true},
		"v4: time limit":                      {rule: "swe-bench", r: with(mixed, func(r *Results) { r.TimedOut = true }), f2p: []string{"pass"}, failed: []string{"pass"}, void: true},
		"v4: a cut name is absent":            {rule: "swe-bench", r: mixed, f2p: []string{"cut[a"}, failed: []string{"cut[a"}},
		"v4: exit status":                     {rule: "swe-bench", r: with(test("a PASSED"), func(r *Results) { r.Exit = number(1) }), f2p: []string{"a"}, value: 1, passed: []string{"a"}},
		"smith: absent fails":                 {rule: "swe-smith", r: mixed, f2p: []string{"gone"}, p2p: []string{"pass", "skip"}, passed: []string{"pass"}, failed: []string{"gone"}},

		"v5: skipped fails where it had to be mended": {rule: "swe-bench-v5", r: mixed, f2p: []string{"skip"}, p2p: []string{"pass"}, passed: []string{"pass"}, failed: []string{"skip"}},
		"v5: skipped is maintained":                   {rule: "swe-bench-v5", r: mixed, f2p: []string{"pass"}, p2p: []string{"skip"}, value: 1, passed: []string{"pass", "skip"}},
		"v5: skipped, in both lists":                  {rule: "swe-bench-v5", r: mixed, f2p: []string{"skip"}, p2p: []string{"skip"}, failed: []string{"skip"}},
		"v5: a cut name that agrees":                  {rule: "swe-bench-v5", r: mixed, f2p: []string{"cut[a"}, value: 1, passed: []string{"cut[a"}},
		"v5: a cut name that does not":                {rule: "swe-bench-v5", r: mixed, f2p: []string{"torn[a"}, failed: []string{"torn[a"}},
		"v5: a whole name is no beginning":            {rule: "swe-bench-v5", r: mixed, f2p: []string{"pas"}, failed: []string{"pas"}},
		"v5: the command failed, no test did":         {rule: "swe-bench-v5", r: with(test("a PASSED"), func(r *Results) { r.Exit = number(1) }), f2p: []string{"a"}, failed: []string{"a"}, void: true},
		"v5: the command failed, and so did a test":   {rule: "swe-bench-v5", r: with(test("a PASSED", "b ERROR"), func(r *Results) { r.Exit = number(1) }), f2p: []string{"a"}, value: 1, passed: []string{"a"}},

		"fail only: absent passes":         {rule: "fail-only", r: test("b FAILED", "c ERROR"), f2p: []string{"a"}, p2p: []string{"c"}, value: 1, passed: []string{"a", "c"}},
		"fail only: failed":                {rule: "fail-only", r: test("b FAILED"), f2p: []string{"a"}, p2p: []string{"b"}, passed: []string{"a"}, failed: []string{"b"}},
		"fail only: nothing failed":        {rule: "fail-only", r: Results{Ran: true}, f2p: []string{"a"}, value: 1, passed: []string{"a"}},
		"fail only: nothing ran":           {rule: "fail-only", f2p: []string{"a"}, failed: []string{"a"}, void: true},
		"fail only: the middle is missing": {rule: "fail-only", r: Results{Ran: true, Truncated: true}, f2p: []string{"a"}, failed: []string{"a"}, void: true},

		"rebench: exactly those":        {rule: "swe-rebench", r: test("a PASSED", "b PASSED", "c FAILED", "d SKIPPED"), f2p: []string{"a"}, p2p: []string{"b"}, value: 1, passed: []string{"a", "b"}},
		"rebench: one more":             {rule: "swe-rebench", r: test("a PASSED", "b PASSED"), f2p: []string{"a"}, passed: []string{"a"}, failed: []string{"b"}},
		"rebench: one less":             {rule: "swe-rebench", r: test("a PASSED", "b FAILED"), f2p: []string{"a"}, p2p: []string{"b"}, passed: []string{"a"}, failed: []string{"b"}},
		"rebench: durations":            {rule: "swe-rebench", r: test("a [1.34 ms] PASSED", "b ran in 2.1 msec all ok PASSED", "c (12ms) PASSED"), f2p: []string{"a [ 7 s ]", "b ran in 30 sec all ok"}, p2p: []string{"c"}, value: 1, passed: []string{"a [ 7 s ]", "b ran in 30 sec all ok", "c"}},
		"rebench: one of a name failed": {rule: "swe-rebench", r: test("a@x PASSED", "a@y FAILED"), f2p: []string{"a"}, failed: []string{"a"}},

		"r2e: as expected":             {rule: "r2e", r: test("a PASSED", "b FAILED", "s SKIPPED"), expected: []schemas.Expectation{{Test: "a", Status: "PASSED"}, {Test: "b", Status: "FAILED"}}, value: 1, passed: []string{"a", "b"}},
		"r2e: an expected failure":     {rule: "r2e", r: test("a PASSED", "b PASSED"), expected: []schemas.Expectation{{Test: "a", Status: "PASSED"}, {Test: "b", Status: "FAILED"}}, passed: []string{"a"}, failed: []string{"b"}},
		"r2e: one more":                {rule: "r2e", r: test("a PASSED", "b PASSED"), expected: []schemas.Expectation{{Test: "a", Status: "PASSED"}}, passed: []string{"a"}, failed: []string{"b"}},
		"r2e: one less":                {rule: "r2e", r: test("a PASSED"), expected: []schemas.Expectation{{Test: "a", Status: "PASSED"}, {Test: "b", Status: "ERROR"}}, passed: []string{"a"}, failed: []string{"b"}},
		"r2e: colours and reasons":     {rule: "r2e", r: test("a PASSED"), expected: []schemas.Expectation{{Test: "\x1b[1ma\x1b[0m - because", Status: "PASSED"}}, value: 1, passed: []string{"a"}},
		"r2e: the other file failed":   {rule: "r2e", r: test("a@x PASSED", "a@y FAILED"), expected: []schemas.Expectation{{Test: "a", Status: "PASSED"}}, failed: []string{"a"}},
		"r2e: lines without a test":    {rule: "r2e", r: test("a PASSED", "@f ERROR"), expected: []schemas.Expectation{{Test: "a", Status: "PASSED"}, {Status: "PASSED"}}, value: 1, passed: []string{"", "a"}},
		"r2e: timing out is 0":         {rule: "r2e", r: with(test("a PASSED"), func(r *Results) { r.TimedOut = true }), expected: []schemas.Expectation{{Test: "a", Status: "PASSED"}}, failed: []string{"a"}, void: true},
		"r2e: pass lists do not count": {rule: "r2e", r: test("a PASSED"), f2p: []string{"gone"}, expected: []schemas.Expectation{{Test: "a", Status: "PASSED"}}, value: 1, passed: []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			task := schemas.Task{Rule: tt.rule, FailToPass: tt.f2p, PassToPass: tt.p2p, Expected: tt.expected}
			g, err := Judge(task, tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if g.Value != tt.value || !cmp.Equal(g.Passed, tt.passed) || !cmp.Equal(g.Failed, tt.failed) || (g.Void != "") != tt.void {
				t.Errorf("got %+v, want %v %v %v, void %v", g, tt.value, tt.passed, tt.failed, tt.void)
			}
			// Invariant 5: what was recorded gives the same reward.
			if again, err := Again(task, g.Passed, g.Failed); err != nil || again.Value != g.Value || !cmp.Equal(again.Failed, g.Failed) {
				t.Errorf("from the record %+v, %v", again, err)
			}
		})
	}
}

func TestUnknownRule(t *testing.T) {
	task := schemas.Task{Rule: "most"}
	_, judged := Judge(task, Results{})
	_, again := Again(task, nil, nil)
	for _, err := range []error{judged, again, CheckRule("most")} {
		if err == nil || !strings.Contains(err.Error(), `"most", want one of fail-only, r2e, swe-bench, swe-bench-v5, swe-rebench, swe-smith`) {
			t.Errorf("error %v", err)
		}
	}
}
