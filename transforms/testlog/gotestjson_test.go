package testlog

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goTestJSON reads a stream of events.
func goTestJSON(output string) Results { return parseGoTest(output, Options{}) }

func stream(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "go-test-json", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// statuses maps "Test" to its status, for streams of one package.
func statuses(r Results) map[string]Status {
	m := map[string]Status{}
	for _, v := range r.Verdicts {
		m[v.Test] = v.Status
	}
	return m
}

// The streams are what go 1.26 printed for one small package, its standard error
// merged in; only durations and paths were evened out.
func TestRecordedStreams(t *testing.T) {
	const build = "example.com/clamp [example.com/clamp.test]"
	for _, tt := range []struct {
		file   string
		want   map[string]Status
		builds []string
		text   string
	}{
		{"pass.jsonl", map[string]Status{
			"TestClampEdge": Passed, "TestClampEdge/at_1": Passed, "TestClampEdge/at_5": Passed,
			"TestClampLow": Passed, "TestClampHigh": Passed, "TestSkipped": Skipped,
		}, nil, "--- PASS: TestClampLow"},
		{"fail.jsonl", map[string]Status{
			"TestClampEdge": Failed, "TestClampEdge/at_1": Failed, "TestClampEdge/at_5": Passed,
			"TestClampLow": Passed, "TestClampHigh": Failed, "TestSkipped": Skipped,
		}, nil, "moved"},
		{"build_fail.jsonl", map[string]Status{}, []string{build}, "unexpected EOF"},
		// The panic ends the process, so the tests behind it do not exist.
		{"panic.jsonl", map[string]Status{
			"TestClampEdge": Passed, "TestClampEdge/at_1": Passed, "TestClampEdge/at_5": Passed, "TestClampLow": Failed,
		}, nil, "panic: low"},
		{"timeout.jsonl", map[string]Status{
			"TestClampEdge": Passed, "TestClampEdge/at_1": Passed, "TestClampEdge/at_5": Passed, "TestClampLow": Failed,
		}, nil, "panic: test timed out after 1s"},
		{"broken_module.jsonl", map[string]Status{}, nil, "go: errors parsing go.mod"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			r := goTestJSON(stream(t, tt.file))
			if d := cmp.Diff(tt.want, statuses(r)); d != "" {
				t.Errorf("statuses -want +got:\n%s", d)
			}
			if d := cmp.Diff(tt.builds, r.FailedBuilds); d != "" {
				t.Errorf("failed builds -want +got:\n%s", d)
			}
			if !strings.Contains(r.Text, tt.text) || strings.Contains(r.Text, `"Action"`) {
				t.Errorf("text lacks %q or shows events:\n%s", tt.text, r.Text)
			}
			if r.Trouble != "" {
				t.Errorf("trouble %q", r.Trouble)
			}
		})
	}
}

// A stream cut at any byte says only what is in the part: no test passes that
// does not in the whole, and a test whose end is cut has failed.
func TestCutStreams(t *testing.T) {
	whole := stream(t, "pass.jsonl")
	want := statuses(goTestJSON(whole))
	for cut := range len(whole) {
		for name, s := range statuses(goTestJSON(whole[:cut])) {
			if s != Failed && s != want[name] {
				t.Fatalf("cut at %d: %s is %s, in the whole %s", cut, name, s, want[name])
			}
		}
	}
}

// Cutting the middle out, as a sandbox does with long output, never turns a
// failure that is seen into a pass.
func TestStreamWithoutItsMiddle(t *testing.T) {
	whole := stream(t, "fail.jsonl")
	full := statuses(goTestJSON(whole))
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		a, b := rng.IntN(len(whole)), rng.IntN(len(whole))
		a, b = min(a, b), max(a, b)
		for name, s := range statuses(goTestJSON(whole[:a] + "\n[cut]\n" + whole[b:])) {
			if s == Passed && full[name] != Passed {
				t.Fatalf("without [%d, %d) %s passes", a, b, name)
			}
		}
	}
}

func TestInterleavedLines(t *testing.T) {
	const pass = `{"Action":"pass","Package":"p","Test":"TestA"}`
	for name, tt := range map[string]struct {
		in   string
		want map[string]Status
		text string
	}{
		"message before":            {"go: downloading x\n" + pass + "\n", map[string]Status{"TestA": Passed}, "go: downloading x"},
		"message without newline":   {"warning: GOPATH" + pass + "\n", map[string]Status{"TestA": Passed}, "warning: GOPATH"},
		"last line without newline": {pass, map[string]Status{"TestA": Passed}, ""},
		"carriage returns":          {pass + "\r\n" + pass + "\r\n", map[string]Status{"TestA": Passed}, ""},
		"JSON that is no event":     {`{"Time":"x"}` + "\n" + `{"a":1}` + "\n[1]\nnull\n", map[string]Status{}, `{"a":1}`},
		// What a test prints is inside an event's Output and is not an event.
		"forged by printing": {`{"Action":"output","Package":"p","Test":"TestB","Output":"{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestA\"}\n"}`,
			map[string]Status{}, `{"Action":"pass"`},
		"worst verdict stays": {`{"Action":"fail","Package":"p","Test":"TestA"}` + "\n" + pass, map[string]Status{"TestA": Failed}, ""},
		"never ended":         {`{"Action":"run","Package":"p","Test":"TestA"}`, map[string]Status{"TestA": Failed}, ""},
		"empty":               {"", map[string]Status{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := goTestJSON(tt.in)
			if d := cmp.Diff(tt.want, statuses(r)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if !strings.Contains(r.Text, tt.text) {
				t.Errorf("text %q lacks %q", r.Text, tt.text)
			}
		})
	}
}

// Only the go command's own complaints are the host's trouble; a test that
// prints the same words is not believed.
func TestHostTrouble(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		want bool
	}{
		"go command": {"go: writing stat cache: write /tmp/go-build1: no space left on device\n", true},
		"build":      {`{"ImportPath":"p","Action":"build-output","Output":"link: mmap: Cannot allocate memory\n"}`, true},
		"test":       {`{"Action":"output","Package":"p","Test":"TestA","Output":"no space left on device\n"}`, false},
		"package":    {`{"Action":"output","Package":"p","Output":"no space left on device\n"}`, false},
		"compiler":   {`{"ImportPath":"p","Action":"build-output","Output":"./a.go:1:1: syntax error\n"}`, false},
	} {
		if got := goTestJSON(tt.in).Trouble; (got != "") != tt.want {
			t.Errorf("%s: trouble %q", name, got)
		}
	}
}

func TestTailIsBounded(t *testing.T) {
	var x tail
	for range 10_000 {
		x.add("a line that says something, ünïcode\n")
	}
	s := x.String()
	if len(s) > tailBytes || len(s) < tailBytes/2 || !strings.HasPrefix(s, "a line") {
		t.Errorf("%d bytes, begins with %.20q", len(s), s)
	}
}

// FuzzParseGoTest: nothing panics; verdicts are sorted, distinct and have one of
// the three statuses; the text is bounded; and reading the output twice in a row
// never lets a test pass that did not in the first.
func FuzzGoTestJSON(f *testing.F) {
	for _, name := range []string{"pass.jsonl", "fail.jsonl", "build_fail.jsonl", "panic.jsonl", "broken_module.jsonl"} {
		f.Add(stream(f, name))
	}
	f.Add("{\"Action\":\"pass\",\"Test\":\"\\ud800\"}\n{\"Time\":")
	f.Fuzz(func(t *testing.T, output string) {
		r := goTestJSON(output)
		if len(r.Text) > tailBytes {
			t.Fatalf("text of %d bytes", len(r.Text))
		}
		for i, v := range r.Verdicts {
			if !slices.Contains([]Status{Passed, Failed, Skipped}, v.Status) {
				t.Fatalf("verdict %+v", v)
			}
			if i > 0 {
				u := r.Verdicts[i-1]
				if u.Test > v.Test || u.Test == v.Test && u.Name >= v.Name {
					t.Fatalf("verdicts %+v before %+v", u, v)
				}
			}
		}
		first := map[string]Status{}
		for _, v := range r.Verdicts {
			first[v.Name] = v.Status
		}
		for _, v := range goTestJSON(output + "\n" + output).Verdicts {
			if s, known := first[v.Name]; known && v.Status == Passed && s == Skipped {
				t.Fatalf("%s was %s and passes when read twice", v.Name, s)
			}
		}
	})
}
