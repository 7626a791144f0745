package testlog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Options say how a log is read.
type Options struct {
	// Compat reads as the original parsers do: the last line of a name wins, and
	// only the dataset's own names are made. See the package comment.
	Compat bool
}

// format is one way in which test commands print verdicts.
type format struct {
	// read finds the verdicts in a log whose lines end with "\n".
	read func(t *tally, log string)
	// colours is true where the original parser takes them off.
	colours bool
	// unmarked is true where SWE-bench's markers and bad codes mean nothing.
	unmarked bool
}

// GoTestJSON is the format of "go test -json", the one that names its packages.
const GoTestJSON = "go-test-json"

// formats are all formats but [GoTestJSON], which tells more than verdicts.
var formats = map[string]format{
	"ant":                {read: antPatterns.read},
	"automake":           {read: automakePatterns.read},
	"cargo":              {read: cargo},
	"chart-js":           {read: chartPatterns.read, colours: true},
	"ctest":              {read: ctestPatterns.read},
	"cucumber":           {read: cucumberPatterns.read},
	"django":             {read: django},
	"doctest":            {read: doctest},
	"go-test":            {read: goTest},
	"googletest":         {read: googletestPatterns.read},
	"gradle":             {read: gradle},
	"jest":               {read: jest},
	"jest-json":          {read: jestJSONPatterns.read},
	"junit-xml":          {read: junitSpaced},
	"junit-xml-colons":   {read: junitColons},
	"junit-xml-gradle":   {read: junitGradle},
	"karma":              {read: karma},
	"marked":             {read: markedPatterns.read},
	"matplotlib":         {read: matplotlib},
	"maven":              {read: maven},
	"micropython":        {read: micropythonPatterns.read},
	"minitest":           {read: minitestPatterns.read},
	"phpunit":            {read: phpunit},
	"pytest":             {read: pytest},
	"pytest-options":     {read: pytestOptions},
	"pytest-v2":          {read: pytestV2, colours: true},
	"pytest-v2-3.0.2":    {read: pytestV2First, colours: true},
	"r2e":                {read: r2e, unmarked: true},
	"react-pdf":          {read: reactPDFPatterns.read},
	"redis":              {read: redis},
	"rspec":              {read: rspecPatterns.read},
	"seaborn":            {read: seaborn},
	"swe-smith":          {read: sweSmith},
	"swe-smith-go":       {read: sweSmithGoPatterns.read},
	"swe-smith-rust":     {read: sweSmithRust},
	"swe-smith-surefire": {read: surefire},
	"swift":              {read: swiftPatterns.read},
	"sympy":              {read: sympy},
	"tap":                {read: tap},
	"test-unit":          {read: testUnitPatterns.read},
	"vitest":             {read: vitest},
}

// Formats returns the names that [Parse] knows, sorted.
func Formats() []string {
	return slices.Sorted(maps.Keys(maps.Collect(func(yield func(string, bool) bool) {
		_ = yield(GoTestJSON, true)
		for name := range formats {
			if !yield(name, true) {
				return
			}
		}
	})))
}

// CheckFormat returns an error that lists the known formats unless name is one.
func CheckFormat(name string) error {
	if _, ok := formats[name]; ok || name == GoTestJSON {
		return nil
	}
	return fmt.Errorf("unknown test format %q, want one of %s", name, strings.Join(Formats(), ", "))
}

// Parse reads the output of a test command in the named format. The error is that of
// [CheckFormat]: no log is malformed.
func Parse(name, log string, o Options) (Results, error) {
	if name == GoTestJSON {
		return parseGoTest(log, o), nil
	}
	f, ok := formats[name]
	if !ok {
		return Results{}, CheckFormat(name)
	}
	log = unixLines(log)
	if !o.Compat || f.colours {
		log = plain(log)
	}
	t := tally{compat: o.Compat}
	tests := log
	var r Results
	if !f.unmarked {
		tests, r = region(log)
	}
	if r.Void == "" {
		f.read(&t, tests)
		if len(t.verdicts) == 0 && len(tests) != len(log) {
			f.read(&t, log) // results may come before the marker, where two streams meet
		}
	}
	r.Verdicts = t.results()
	r.Ran = len(r.Verdicts) > 0 || r.Void == "" && evidence(log)
	var end tail
	end.add(tests)
	r.Text = end.String()
	return r, nil
}
