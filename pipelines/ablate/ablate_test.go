package ablate

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"millrace/pipelines/journal"
	"millrace/pipelines/report"
	"millrace/schemas"
)

func example() Matrix {
	return Matrix{
		Title: "Two arms", Arms: []Arm{{Name: "grpo++", Means: "all parts"}, {Name: "grpo", Set: []string{"recipe=grpo"}}},
		Seeds: []uint64{7, 8}, Split: "heldout", Targets: []float64{0.7, 0.9},
	}
}

// record is a run whose held-out success at steps 0, 10, 20, ... is given.
func record(success ...float64) journal.Record {
	var r journal.Record
	for i, v := range success {
		r.Evaluations = append(r.Evaluations,
			journal.Evaluation{Step: int64(10 * i), Set: "heldout", Pass1: journal.Interval{Mean: v, Low: v, High: v}},
			journal.Evaluation{Step: int64(10 * i), Set: "other", Pass1: journal.Interval{Mean: 0.5}})
		r.Steps = append(r.Steps, journal.Step{Number: int64(10*i + 1), Metrics: map[string]float64{
			journal.RewardMean: v, journal.Consumed: 64, "filter/context/count": float64(i)}})
	}
	return r
}

func TestSummaries(t *testing.T) {
	r := Results{Matrix: example(), Records: [][]journal.Record{
		{record(0, 0.6, 0.9, 1), record(0, 0.8, 0.2, 0.9)},
		{record(0, 0.2, 0.4, 0.6), record(0, 0.4, 0.6, 0.8)},
	}}
	got := r.Summaries()
	// By hand: areas are trapezoids over 30 steps.
	areas := [][]float64{{(0.3 + 0.75 + 0.95) / 3, (0.4 + 0.5 + 0.55) / 3}, {(0.1 + 0.3 + 0.5) / 3, (0.2 + 0.5 + 0.7) / 3}}
	for arm, a := range areas {
		near(t, "area", got[arm].Area.Mean, (a[0]+a[1])/2)
	}
	near(t, "difference", got[1].Difference.Mean, (areas[1][0]-areas[0][0]+areas[1][1]-areas[0][1])/2)
	near(t, "last", got[0].Final.Mean, 0.95)
	near(t, "best", got[1].Best.Mean, 0.7)
	// Seed 7 is at 0.75 of two evaluations in a row from step 10; seed 8 only in the
	// last, since 0.8 was followed by 0.2.
	if want := []float64{10, 30}; !slices.Equal(got[0].Reach[0].Steps, want) {
		t.Errorf("steps to 0.7: %v, want %v", got[0].Reach[0].Steps, want)
	}
	// Steps 1, 11, 21 and 31 have 64 samples each.
	if want := []float64{64, 192}; !slices.Equal(got[0].Reach[0].Rollouts, want) {
		t.Errorf("rollouts to 0.7: %v, want %v", got[0].Reach[0].Rollouts, want)
	}
	near(t, "mean of the rollouts to 0.7", got[0].Reach[0].Paid.Mean, 128)
	if reach := got[1].Reach[1]; reach.Reached != 0 || !math.IsNaN(reach.Mean.Mean) {
		t.Errorf("steps to 0.9 of an arm that never came there: %+v", reach)
	}
	head, rows := r.Table()
	if len(rows) != 2 || len(rows[0]) != len(head) || rows[1][len(head)-3] != "never" || rows[1][len(head)-2] != "never" {
		t.Errorf("table %v %v", head, rows)
	}
}

// TestEstimate checks the interval against a published table of Student's t: with 4
// degrees of freedom the 0.975 quantile is 2.776.
func TestEstimate(t *testing.T) {
	e := EstimateOf([]float64{1, 2, math.NaN(), 3, 4, 5})
	half := 2.776 * math.Sqrt(2.5) / math.Sqrt(5)
	if e.Seeds != 5 || e.Mean != 3 || math.Abs(e.Low-(3-half)) > 1e-3 || math.Abs(e.High-(3+half)) > 1e-3 {
		t.Errorf("estimate %+v, want 3 ± %.4f", e, half)
	}
	if one := EstimateOf([]float64{2}); one.Mean != 2 || !math.IsNaN(one.Low) {
		t.Errorf("of one seed: %+v", one)
	}
	if none := EstimateOf([]float64{math.NaN()}); none.Seeds != 0 || !math.IsNaN(none.Mean) {
		t.Errorf("of no seed: %+v", none)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no arms":     {"seeds: [1]\nsplit: x", "needs arms and seeds"},
		"path":        {"arms: [{name: ../x}]\nseeds: [1]\nsplit: x", "arms[0].name"},
		"twice":       {"arms: [{name: a}, {name: a}]\nseeds: [1]\nsplit: x", "comes twice"},
		"seed twice":  {"arms: [{name: a}]\nseeds: [1, 1]\nsplit: x", "seeds[1]"},
		"no split":    {"arms: [{name: a}]\nseeds: [1]", "split is empty"},
		"target":      {"arms: [{name: a}]\nseeds: [1]\nsplit: x\ntargets: [70]", "targets[0] is 70"},
		"unknown key": {"arm: []", "unknown key arm (did you mean arms?)"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "matrix.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v, want %q and the file", err, c.want)
			}
		})
	}
}

func TestExtends(t *testing.T) {
	old := example()
	more := example()
	more.Arms, more.Seeds = append(more.Arms, Arm{Name: "dapo"}), append(more.Seeds, 9)
	if err := more.Extends(old); err != nil {
		t.Errorf("more arms and seeds: %v", err)
	}
	for name, change := range map[string]func(*Matrix){
		"arm gone":   func(m *Matrix) { m.Arms = m.Arms[:1] },
		"other arm":  func(m *Matrix) { m.Arms[1].Set = []string{"recipe=dapo"} },
		"seed gone":  func(m *Matrix) { m.Seeds = m.Seeds[1:] },
		"other base": func(m *Matrix) { m.Set = []string{"steps=3"} },
	} {
		m := example()
		change(&m)
		if m.Extends(old) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestRunsGoSeedBySeed: a matrix that is stopped half way has something of every arm.
func TestRunsGoSeedBySeed(t *testing.T) {
	want := []Run{{0, 7}, {1, 7}, {0, 8}, {1, 8}}
	if got := example().Runs(); !slices.Equal(got, want) {
		t.Errorf("runs %v, want %v", got, want)
	}
	m := example()
	m.Set = []string{"steps=3"}
	if got, want := m.Settings(Run{1, 8}), []string{"steps=3", "recipe=grpo", "seed=8"}; !slices.Equal(got, want) {
		t.Errorf("settings %v, want %v", got, want)
	}
}

// TestFilesHoldEveryNumber writes what journals hold and reads it back from both
// forms.
func TestFilesHoldEveryNumber(t *testing.T) {
	base, m := t.TempDir(), example()
	for _, run := range m.Runs() {
		j, err := journal.Open(m.Dir(base, run))
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Step(1, time.Unix(9, 0), []schemas.Metric{{Name: "actor/entropy", Value: 0.25 + float64(run.Arm)}, {Name: "critic/rewards/mean", Value: 1.0 / 3}}); err != nil {
			t.Fatal(err)
		}
		if err := j.Evaluation(journal.Evaluation{Step: 0, Set: "heldout", Time: time.Unix(8, 0), Pass1: journal.Interval{Mean: 0.5, High: 1}}); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Read(base, m)
	if err != nil {
		t.Fatal(err)
	}
	points := r.Points()
	if len(points) != 12 {
		t.Fatalf("%d points, want 3 of each of 4 runs", len(points))
	}
	var want []string
	for _, p := range points {
		want = append(want, fmt.Sprint(p.Arm, p.Seed, p.Step, p.Metric, p.Value))
	}

	path := filepath.Join(base, "curves.csv")
	if err := WriteCSV(path, points); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || !slices.Equal(rows[0], columns) {
		t.Fatalf("head %v, error %v", rows, err)
	}
	for i, row := range rows[1:] {
		if got := fmt.Sprint(row[0], row[1], " ", row[2], row[3], row[4]); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want[i], " ", "") {
			t.Errorf("row %d is %q, want %q", i+1, got, want[i])
		}
	}

	path = filepath.Join(base, "curves.parquet")
	if err := WriteParquet(path, points); err != nil {
		t.Fatal(err)
	}
	parquet, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer parquet.Close()
	reader, err := pqarrow.NewFileReader(parquet, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := reader.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	chunk := func(i int) any { return table.Column(i).Data().Chunk(0) }
	for i := range int(table.NumRows()) {
		got := fmt.Sprint(chunk(0).(*array.String).Value(i), chunk(1).(*array.Uint64).Value(i), chunk(2).(*array.Int64).Value(i),
			chunk(3).(*array.String).Value(i), chunk(4).(*array.Float64).Value(i))
		if got != want[i] {
			t.Errorf("Parquet row %d is %q, want %q", i, got, want[i])
		}
	}
}

func TestReportShowsEveryArm(t *testing.T) {
	r := Results{Matrix: example(), Records: [][]journal.Record{{record(0, 0.6), record(0, 0.8)}, {record(0, 0.2), record(0, 0.4)}}}
	c := r.Comparison("title: Two arms\n")
	path := filepath.Join(t.ArtifactDir(), "report.html")
	if err := report.WriteComparison(path, c); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"grpo&#43;&#43;", "all parts", "Held-out success", "Filtered: context", "<path", "title: Two arms"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the report does not have %q", want)
		}
	}
	for _, f := range c.Figures {
		svg, err := f.SVG()
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if !strings.HasPrefix(string(svg), "<svg") || strings.Contains(string(svg), "#010") || strings.Contains(string(svg), "var(") {
			t.Errorf("%s does not stand alone", f.Name)
		}
		if !strings.Contains(string(svg), "grpo++") || !strings.Contains(string(svg), f.Title) {
			t.Errorf("%s has no legend or no title", f.Name)
		}
	}
	// A count that a step does not have is a share of 0.
	if s := r.Metric(0, "filter/context/count", journal.Consumed); s.Values[0].Mean != 0 || s.Values[1].Mean != 1.0/64 {
		t.Errorf("share filtered %+v", s)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
