package mine

import (
	"strings"
	"testing"

	"millrace/transforms/inject"
)

// TestCorpus holds each program to what the tasks need: small enough for a small
// policy to read, and without anything to download or wait for.
func TestCorpus(t *testing.T) {
	const minPrograms, maxLines, minSites = 40, 28, 3
	programs := corpus(t)
	if len(programs) < minPrograms {
		t.Errorf("%d programs, want at least %d", len(programs), minPrograms)
	}
	for _, p := range programs {
		if lines := strings.Count(p.Source, "\n"); lines > maxLines {
			t.Errorf("%s has %d lines, want at most %d", p.Name, lines, maxLines)
		}
		if strings.Contains(p.Source, "import") {
			t.Errorf("%s imports something", p.Name)
		}
		faults, err := inject.Faults(p.Name+".go", []byte(p.Source))
		if err != nil {
			t.Fatal(err)
		}
		sites := map[int]bool{}
		for _, f := range faults {
			sites[f.Offset] = true
		}
		if len(sites) < minSites {
			t.Errorf("%s has %d places for a fault, want at least %d", p.Name, len(sites), minSites)
		}
		tests, err := p.tests()
		if err != nil {
			t.Fatal(err)
		}
		if visible := "Test" + p.Function; len(tests) < 3 || tests[len(tests)-1] != visible {
			t.Errorf("%s has the tests %v; want some hidden ones, then %s", p.Name, tests, visible)
		}
	}
}

func TestExportedFunction(t *testing.T) {
	for source, want := range map[string]string{
		"package p\nfunc f() {}\nfunc F() {}":                 "F",
		"package p\nfunc F() {}\ntype T int\nfunc (T) G() {}": "F",
		"package p\nfunc f() {}":                              "",
		"package p\nfunc F() {}\nfunc G() {}":                 "",
		"package":                                             "",
	} {
		got, err := exportedFunction("p.go", source)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("exportedFunction(%q) = %q, %v; want %q", source, got, err, want)
		}
	}
}
