package prove

import (
	"encoding/json"
	"strings"
	"testing"

	"millrace/pipelines/gomodule"
)

// log is the output of "go test -json" in which a test of package m prints lines.
func log(test string, lines ...string) Outcome {
	var out strings.Builder
	for _, line := range lines {
		text, err := json.Marshal(event{"output", "m", test, line + "\n"})
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
	}
	return Outcome{Output: out.String()}
}

// TestReport: each line of a log as a reader of the issue sees it; "" is a line that is
// left out.
func TestReport(t *testing.T) {
	cases := []struct{ name, line, want string }{
		{"message", "    a_test.go:12: Max(1, 2) = 1, want 2", "Max(1, 2) = 1, want 2"},
		{"position in the middle", "panic at /x/y/a.go:33 in loop", "panic at in loop"},
		{"name of the test", "    a_test.go:1: TestMax/of_two failed twice", "the check failed twice"},
		{"name in a word", "Testing the Examples of Fuzzy things", "Testing the Examples of Fuzzy things"},
		{"verdict", "--- FAIL: TestMax (0.00s)", ""},
		{"start", "=== RUN   TestMax/of_two", ""},
		{"crash", "panic: runtime error: index out of range [recovered, repanicked]", "panic: runtime error: index out of range"},
		{"time", "2026/11/21 19:28:38 no field", "no field"},
		{"secret", "the fix is return b + 1", ""},
		{"rule", "-----", ""},
		{"nothing left", "    a_test.go:12:", ""},
		{"not only ASCII", "got «é», want 日", "got «é», want 日"},
	}
	failing := []Test{{"m.TestMax", gomodule.Test{Dir: ".", Function: "TestMax"}}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Report("m", log("TestMax", c.line), failing, []string{"return b + 1", "b", "TestMax"})
			_, quoted, _ := strings.Cut(got, "prints:\n\n    ")
			quoted, _, _ = strings.Cut(quoted, "\n\n")
			if quoted != c.want {
				t.Errorf("%q is quoted as %q, want %q", c.line, quoted, c.want)
			}
		})
	}
	t.Run("stack", func(t *testing.T) {
		got := Report("m", log("TestMax", "panic: it", "", "goroutine 7 [running]:", "m.Max(...)", "\t/w/a.go:3 +0x1d"), failing, nil)
		if !strings.Contains(got, "panic: it\n\nIt should") {
			t.Errorf("report:\n%s", got)
		}
	})
	t.Run("a test that passes", func(t *testing.T) {
		if got := Report("m", log("TestOther", "hello"), failing, nil); strings.Contains(got, "hello") {
			t.Errorf("report:\n%s", got)
		}
	})
	t.Run("length", func(t *testing.T) {
		var lines []string
		for i := range 500 {
			lines = append(lines, strings.Repeat("é", i))
		}
		if got := Report("m", log("TestMax", lines...), failing, nil); len(got) > reportLines*(reportLineBytes+20)+200 {
			t.Errorf("the report has %d bytes", len(got))
		}
	})
}

// FuzzReport holds for any output: no panic, and no place in a file, test or secret in
// the text.
func FuzzReport(f *testing.F) {
	f.Add("    a_test.go:12: TestMax: b.go:3:4 (x.go)", "a secret of mine")
	f.Add("TestMax_a.go:1 a secret of mine", "a secret of mine")
	f.Fuzz(func(t *testing.T, line, secret string) {
		got := Report("m", log("TestMax", line, secret), []Test{{"m.TestMax", gomodule.Test{Dir: ".", Function: "TestMax"}}}, []string{secret, "TestMaximum"})
		_, quoted, _ := strings.Cut(got, "prints:\n\n")
		quoted, _, _ = strings.Cut(quoted, "\n\nIt should")
		secret = strings.TrimSpace(secret)
		for line := range strings.Lines(quoted) {
			if line = strings.TrimSpace(line); len(secret) >= shortSecret && strings.Contains(line, secret) || strings.Contains(line, "TestMaximum") {
				t.Fatalf("the report holds a secret:\n%s", got)
			}
		}
	})
}

// TestFit: what does not fit is left out by function, fail-to-pass tests never.
func TestFit(t *testing.T) {
	test := func(function, sub string) Test {
		return Test{"m." + function + sub, gomodule.Test{Dir: ".", Function: function}}
	}
	a, b, b1, c := test("TestA", ""), test("TestB", ""), test("TestB", "/1"), test("TestC", "")
	r := Reference{
		Tests:    []Test{a, b, b1, c},
		bytes:    map[gomodule.Test]int{a.Test: 100, b.Test: 300, c.Test: 50, {Dir: "other", Function: "TestA"}: 1000},
		overhead: map[string]int{".": 10},
	}
	sel := Selection{Dirs: []string{"."}}
	for _, k := range []struct {
		room      int
		functions string
		p2p       string
		fits      bool
	}{
		{460, "", "m.TestB m.TestB/1 m.TestC", true},
		{459, "TestA TestB", "m.TestB m.TestB/1", true},
		{409, "TestA TestC", "m.TestC", true},
		{160, "TestA TestC", "m.TestC", true},
		{159, "TestA", "", false},
		{109, "", "", false},
	} {
		got, f2p, p2p, fits := r.fit(sel, []Test{a}, []Test{b, b1, c}, k.room)
		if fits != k.fits || fits && (len(f2p) != 1 || strings.Join(got.Functions, " ") != k.functions || strings.Join(Names(p2p), " ") != k.p2p) {
			t.Errorf("room %d: functions %q, pass-to-pass %q, %v; want %q, %q, %v", k.room, got.Functions, Names(p2p), fits, k.functions, k.p2p, k.fits)
		}
	}
}

func TestCommand(t *testing.T) {
	s := Suite{Limit: 20e9}
	for _, c := range []struct {
		m    gomodule.Module
		sel  Selection
		want string
	}{
		{gomodule.Module{}, Selection{Dirs: []string{".", "a/b"}}, "go test -json -count=1 -timeout 20s . ./a/b"},
		{gomodule.Module{Vendored: true}, Selection{Dirs: []string{"a"}, Functions: []string{"TestA", "TestB"}}, "go test -json -count=1 -timeout 20s -mod=vendor -run '^(TestA|TestB)$' ./a"},
	} {
		if got := s.Command(c.m, c.sel); got != c.want {
			t.Errorf("Command = %q, want %q", got, c.want)
		}
	}
}
