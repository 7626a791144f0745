package journal

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"millrace/schemas"
)

var at = time.UnixMicro(1_763_685_000_250_000)

func exampleEvaluation(step int64, set string) Evaluation {
	return Evaluation{
		Step: step, Set: set, Time: at, Pass1: Interval{Mean: 0.5, Low: 0.4, High: 0.625}, Tasks: 40, Rollouts: 158,
		Failures: 2, Temperature: 1, Samples: 4, Steps: 6.5, TestsRun: 2.25, Undos: 0.5, Tokens: 310,
	}
}

func open(t *testing.T, dir string) *Journal {
	t.Helper()
	j, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func step(t *testing.T, j *Journal, number int64, metrics ...schemas.Metric) {
	t.Helper()
	if err := j.Step(number, at, metrics); err != nil {
		t.Fatal(err)
	}
}

func shut(t *testing.T, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir string) Record {
	t.Helper()
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	j := open(t, dir)
	if err := j.Evaluation(exampleEvaluation(0, "heldout-fault")); err != nil {
		t.Fatal(err)
	}
	step(t, j, 1, schemas.Metric{Name: "actor/grad_norm", Value: 0.125}, schemas.Metric{Name: "z", Value: math.NaN()},
		schemas.Metric{Name: "a", Value: math.Inf(-1)})
	step(t, j, 2)
	shut(t, j)
	same(t, read(t, dir), Record{
		Steps: []Step{
			{Number: 1, Time: at, Metrics: map[string]float64{"actor/grad_norm": 0.125, "z": math.NaN(), "a": math.NaN()}},
			{Number: 2, Time: at, Metrics: map[string]float64{}},
		},
		Evaluations: []Evaluation{exampleEvaluation(0, "heldout-fault")},
	})
	lines, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"step":1,"time":1763685000250000,"metrics":{"a":null,"actor/grad_norm":0.125,"z":null}}` + "\n" +
		`{"step":2,"time":1763685000250000,"metrics":{}}` + "\n"
	if string(lines) != want {
		t.Errorf("metrics.jsonl is\n%swant\n%s", lines, want)
	}
}

func TestStepWrittenTwiceIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	for n := int64(1); n <= 3; n++ {
		step(t, j, n, schemas.Metric{Name: "pass", Value: 1})
	}
	for _, n := range []int64{0, 2} {
		if err := j.Evaluation(exampleEvaluation(n, "b")); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, j)
	j = open(t, dir) // resumed from the checkpoint of step 1
	step(t, j, 2, schemas.Metric{Name: "pass", Value: 2})
	again := exampleEvaluation(2, "b")
	again.Tasks = 39
	for _, e := range []Evaluation{exampleEvaluation(2, "a"), again} {
		if err := j.Evaluation(e); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, j)
	r := read(t, dir)
	var got []float64
	for i, s := range r.Steps {
		if s.Number != int64(i)+1 {
			t.Errorf("step %d stands at %d", s.Number, i)
		}
		got = append(got, s.Metrics["pass"])
	}
	same(t, got, []float64{1, 2, 1})
	same(t, r.Evaluations, []Evaluation{exampleEvaluation(0, "b"), exampleEvaluation(2, "a"), again})
}

// TestEveryTornEndIsMended cuts the file of two steps at each byte. The first
// line is never lost, the second only if it is torn.
func TestEveryTornEndIsMended(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	step(t, j, 1, schemas.Metric{Name: "a", Value: 1})
	step(t, j, 2, schemas.Metric{Name: "a", Value: 2})
	shut(t, j)
	path := filepath.Join(dir, metricsFile)
	content := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	whole := content()
	first := strings.IndexByte(whole, '\n') + 1
	for size := first; size <= len(whole); size++ {
		if err := os.WriteFile(path, []byte(whole[:size]), 0o644); err != nil {
			t.Fatal(err)
		}
		readable := 1
		if size == len(whole) {
			readable = 2
		}
		if n := len(read(t, dir).Steps); n != readable {
			t.Fatalf("cut to %d of %d bytes: %d steps are read, want %d", size, len(whole), n, readable)
		}
		shut(t, open(t, dir))
		want := whole[:first]
		if size >= len(whole)-1 { // all but the newline is whole
			want = whole
		}
		if got := content(); got != want {
			t.Fatalf("cut to %d of %d bytes: mended to %q, want %q", size, len(whole), got, want)
		}
	}
}

func TestWritingGoesOnBehindATornEnd(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	step(t, j, 1)
	step(t, j, 2)
	shut(t, j)
	path := filepath.Join(dir, metricsFile)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-3); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	step(t, j, 3)
	shut(t, j)
	same(t, numbers(read(t, dir)), []int64{1, 3})
}

func numbers(r Record) []int64 {
	var out []int64
	for _, s := range r.Steps {
		out = append(out, s.Number)
	}
	return out
}

// TestTornLineLongerThanAChunk: the end is looked for in chunks.
func TestTornLineLongerThanAChunk(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	step(t, j, 1)
	shut(t, j)
	path := filepath.Join(dir, metricsFile)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"step":2,"metrics":{"` + strings.Repeat("x", 300_000)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	shut(t, open(t, dir))
	if r := read(t, dir); len(r.Steps) != 1 || r.Steps[0].Number != 1 {
		t.Errorf("read %d steps", len(r.Steps))
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 100 {
		t.Errorf("the torn line was left: %v, %v", info.Size(), err)
	}
}

func TestRefusesWhatCouldNotBeRead(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	defer shut(t, j)
	evaluation := func(change func(*Evaluation)) error {
		e := exampleEvaluation(1, "s")
		change(&e)
		return j.Evaluation(e)
	}
	for _, c := range []struct {
		want string
		err  error
	}{
		{"step is -1", j.Step(-1, at, nil)},
		{`metric "a" comes twice`, j.Step(1, at, []schemas.Metric{{Name: "a"}, {Name: "a"}})},
		{"metric without a name", j.Step(1, at, []schemas.Metric{{Value: 1}})},
		{`set ""`, evaluation(func(e *Evaluation) { e.Set = "" })},
		{"pass@1 has 1.5", evaluation(func(e *Evaluation) { e.Pass1.High = 1.5 })},
		{"pass@1 has NaN", evaluation(func(e *Evaluation) { e.Pass1.Mean = math.NaN() })},
		{"not finite", evaluation(func(e *Evaluation) { e.Steps = math.NaN() })},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error is %v, want one that says %s", c.err, c.want)
		}
	}
	same(t, read(t, dir), Record{})
}

func TestErrorNamesFileAndLine(t *testing.T) {
	for _, c := range []struct{ file, lines, want string }{
		{metricsFile, `{"step":1,"metrics":{}}` + "\n" + `{"step":2,` + "\n", "metrics.jsonl line 2: unexpected end"},
		{metricsFile, "{}\n", "metrics.jsonl line 1: has no step or no metrics"},
		{metricsFile, `{"step":1,"metrics":{"a":"x"}}` + "\n", "metrics.jsonl line 1: json: cannot unmarshal string"},
		{metricsFile, strings.Repeat("x", maxLine+1), "metrics.jsonl line 1: is longer than"},
		{evaluationsFile, `{"step":1,"set":"s"}` + "\n", "evaluations.jsonl line 1: has no step or no pass@1"},
		{evaluationsFile, `{"step":1,"set":"s","pass@1":{"mean":-1}}` + "\n", "evaluations.jsonl line 1: evaluation of set \"s\" at step 1: pass@1 has -1"},
	} {
		dir := t.TempDir()
		shut(t, open(t, dir))
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.lines), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(dir)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v, want one that says %s", err, c.want)
		}
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading a directory without a journal: %v", err)
	}
}
