package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"millrace/pipelines/journal"
	"millrace/schemas"
)

const hostile = `</pre></td><script>alert(1)</script><img src=x onerror="alert(2)">&amp;` + "\x1b[2J\u202e"

func exampleRecord(steps int) journal.Record {
	var r journal.Record
	start := time.Unix(1_763_685_000, 0)
	for n := 1; n <= steps; n++ {
		x := float64(n) / float64(steps)
		m := map[string]float64{
			journal.RewardMean: 0.3 + 0.5*x + 0.05*math.Sin(9*x), journal.SolvedRatio: 0.3 + 0.5*x,
			journal.ResponseLength: 500 - 200*x, journal.Turns: 4 + 3*x, journal.TestsRun: 1 + x, journal.Undos: x,
			"termination/finished/ratio": 0.6 + 0.3*x, "termination/steps/ratio": 0.4 - 0.3*x,
			"group/solved_all": 1 + 4*x, "group/solved_none": 5 - 4*x, "group/solved_some": 2,
			journal.Entropy: 0.8 - 0.5*x, journal.GradNorm: 1 + x, journal.ClipFraction: 0.01 * x,
			journal.MismatchMean: 1e-6, journal.MismatchMax: 4e-5, journal.PolicyKL: 1e-4 * x,
			journal.StalenessMean: 0, journal.StalenessMax: 1, journal.Consumed: 64, journal.Weighing: 56,
			journal.Throughput: 9000 + 500*x, "timing_s/update_actor": 6, "timing_s/save": 0.2, "actor/lr": 3e-4,
		}
		if n == steps/2 {
			m[journal.GradNorm] = math.NaN()
			delete(m, journal.Entropy)
		}
		r.Steps = append(r.Steps, journal.Step{Number: int64(n), Time: start.Add(time.Duration(n) * 25 * time.Second), Metrics: m})
	}
	for _, set := range []string{"heldout-fault", "heldout-function"} {
		for _, at := range []int64{0, int64(steps)} {
			p := 0.31 + 0.5*float64(at)/float64(steps)
			r.Evaluations = append(r.Evaluations, journal.Evaluation{
				Step: at, Set: set, Time: start, Pass1: journal.Interval{Mean: p, Low: p - 0.05, High: p + 0.04}, Tasks: 80, Rollouts: 319,
				Failures: 1, Temperature: 1, Samples: 4, Steps: 5.25, TestsRun: 1.5, Undos: 0.25, Tokens: 402,
			})
		}
	}
	return r
}

func exampleTrajectory(iteration int64, solved bool) schemas.Reward {
	t := schemas.Trajectory{
		ID: fmt.Sprintf("r/%d/textwrap#0.0", iteration), Iteration: iteration, Task: schemas.Task{ID: "textwrap/flip/5f1a", Statement: "Wrap breaks lines one column late."},
		Versions: []int32{-1, 3, 3, -1, 4, 4}, Termination: schemas.Finished, Patch: "--- a/wrap.go\n+++ b/wrap.go\n-	if n > width {\n+	if n >= width {\n",
		Steps: []schemas.Step{
			{TokenStart: 1, TokenEnd: 3, Tool: "execute_bash", Action: "<function=execute_bash>\n<parameter=cmd>go test</parameter>\n</function>", Observation: "--- FAIL: TestWrap\n", ExitCode: 1, Sampling: 15_000, Acting: 280_000},
			{TokenStart: 4, TokenEnd: 6, Tool: "finish", Action: "<function=finish>\n</function>", Sampling: 9_000},
		},
		Started: 0, Finished: 4_250_000,
	}
	r := schemas.Reward{Trajectory: t, Passed: []string{"TestEmpty"}, FailedTests: []string{"TestWrap/late"}, Output: "FAIL textwrap\n"}
	if solved {
		r.Value, r.Passed, r.FailedTests, r.Output = 1, []string{"TestEmpty", "TestWrap/late"}, nil, "ok textwrap\n"
	}
	return r
}

// written writes a report and returns it, parsed and as it is.
func written(t *testing.T, in Input) (*html.Node, string) {
	t.Helper()
	path := filepath.Join(t.ArtifactDir(), "report.html")
	if err := Write(path, in); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	balanced(t, string(b))
	doc, err := html.Parse(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return doc, string(b)
}

// balanced checks what a parser would mend: every element is closed, in order.
func balanced(t *testing.T, page string) {
	t.Helper()
	void := map[string]bool{"meta": true}
	var stack []string
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(stack) > 0 {
				t.Errorf("elements are left open: %v", stack)
			}
			return
		case html.StartTagToken:
			if name, _ := z.TagName(); !void[string(name)] {
				stack = append(stack, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(stack) == 0 || stack[len(stack)-1] != string(name) {
				t.Fatalf("</%s> closes %v", name, stack)
			}
			stack = stack[:len(stack)-1]
		}
	}
}

// find returns the elements for which keep is true, in document order.
func find(n *html.Node, keep func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && keep(d) {
			out = append(out, d)
		}
	}
	return out
}

func is(a atom.Atom) func(*html.Node) bool {
	return func(n *html.Node) bool { return n.DataAtom == a }
}

func ofClass(class string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "class" && a.Val == class })
	}
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func texts(nodes []*html.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, textOf(n))
	}
	return out
}

func TestReportHoldsEverything(t *testing.T) {
	doc, page := written(t, Input{
		Title: "seed 7", ConfigYAML: "seed: 7\n", Record: exampleRecord(20),
		Trajectories: []schemas.Reward{exampleTrajectory(0, false), exampleTrajectory(19, true)},
	})
	if got := texts(find(doc, ofClass("pass"))); !slices.Equal(got, []string{"31.0 % → 81.0 %", "31.0 % → 81.0 %"}) {
		t.Errorf("headlines are %q", got)
	}
	figures := find(doc, is(atom.Figure))
	var titles []string
	for _, f := range figures {
		titles = append(titles, textOf(find(f, is(atom.H3))[0]))
		if len(find(f, is(atom.Svg))) != 1 || len(find(f, is(atom.Table))) != 1 {
			t.Errorf("figure %s has no plot or no table", titles[len(titles)-1])
		}
	}
	want := []string{"Held-out pass@1", "Reward", "Groups by outcome", "Response length", "Environment steps", "Tests run and undone edits",
		"Why trajectories ended", "Entropy", "Gradient norm", "Clip fraction", "Log-prob mismatch", "KL to the behaviour policy",
		"Staleness", "Tokens each second", "Seconds of each phase", "Kept ratio"}
	if !slices.Equal(titles, want) {
		t.Errorf("figures are %q, want %q", titles, want)
	}
	norm := figures[slices.Index(titles, "Gradient norm")]
	cells := texts(find(norm, is(atom.Td)))
	if len(cells) != 40 || cells[0] != "1" || cells[1] != "1.05" || cells[19] != "–" || cells[39] != "2" {
		t.Errorf("gradient norms are %q", cells)
	}
	trajectories := find(doc, ofClass("trajectory"))
	if len(trajectories) != 2 {
		t.Fatalf("%d trajectories", len(trajectories))
	}
	for _, part := range []string{"not solved", "Wrap breaks lines one column late.", "<parameter=cmd>go test</parameter>", "--- FAIL: TestWrap",
		"+	if n >= width {", "TestWrap/late", "policy version 3 to 4", "4 sampled tokens", "4.25s", "acted 280ms", "Reward 0", "1 expected tests passed, 1 did not"} {
		if !strings.Contains(textOf(trajectories[0]), part) {
			t.Errorf("the failed trajectory does not show %q", part)
		}
	}
	for _, part := range []string{"20 steps, 7m55s from", "seed: 7", "actor/lr", "0.0003"} {
		if !strings.Contains(textOf(doc), part) {
			t.Errorf("the page does not show %q", part)
		}
	}
	for _, outside := range []string{"<script", "src=", "href=\"http", "@import", "url(", "fill:#", "stroke:#"} {
		if strings.Contains(page, outside) {
			t.Errorf("the page holds %q", outside)
		}
	}
}

// TestWhatAgentsWriteIsText puts markup wherever somebody else names or writes
// something: no element comes of it, and it can be read.
func TestWhatAgentsWriteIsText(t *testing.T) {
	tame := Input{Title: "t", ConfigYAML: "c", Record: exampleRecord(3), Trajectories: []schemas.Reward{exampleTrajectory(0, false)}}
	wild := Input{Title: hostile, ConfigYAML: hostile, Record: exampleRecord(3), Trajectories: []schemas.Reward{exampleTrajectory(0, false)}}
	for i := range wild.Record.Evaluations {
		wild.Record.Evaluations[i].Set += hostile
	}
	for _, s := range wild.Record.Steps {
		s.Metrics["termination/"+hostile+"/ratio"], s.Metrics[hostile] = s.Metrics["termination/finished/ratio"], s.Metrics["actor/lr"]
		delete(s.Metrics, "termination/finished/ratio")
		delete(s.Metrics, "actor/lr")
	}
	r := &wild.Trajectories[0]
	r.Failure, r.Output, r.Passed, r.FailedTests = hostile, hostile, []string{hostile}, []string{hostile}
	r.Trajectory.ID, r.Trajectory.Task.ID, r.Trajectory.Task.Statement, r.Trajectory.Patch = hostile, hostile, hostile, hostile
	r.Trajectory.Termination = hostile
	s := &r.Trajectory.Steps[0]
	s.Tool, s.Action, s.Observation = hostile, hostile, hostile
	tame.Trajectories[0].Failure = "f"

	elements := func(in Input) map[string]int {
		doc, page := written(t, in)
		if strings.ContainsAny(page, "\x1b\u202e") {
			t.Error("a control character came through")
		}
		count := map[string]int{}
		for _, n := range find(doc, func(*html.Node) bool { return true }) {
			count[n.Data]++
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") {
					t.Errorf("element %s has attribute %s", n.Data, a.Key)
				}
			}
		}
		return count
	}
	want, got := elements(tame), elements(wild)
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("%d elements %s, %d without markup in the texts", got[name], name, want[name])
		}
	}
	doc, _ := written(t, wild)
	shown := strings.Count(textOf(doc), `<script>alert(1)</script>`)
	// Title twice, two sets on card, legend and header, ending in legend and header,
	// metric, then the trajectory: id, task, statement, ending, tool, action,
	// observation, patch, failure, failed test, output; and the configuration.
	if shown != 2+6+2+1+11+1 {
		t.Errorf("the text is shown %d times", shown)
	}
}

func TestEmptyRunIsAReport(t *testing.T) {
	doc, _ := written(t, Input{Title: "nothing yet"})
	for _, part := range []string{"no step was taken", "Nothing was evaluated.", "No step was recorded.", "None was chosen."} {
		if !strings.Contains(textOf(doc), part) {
			t.Errorf("the page does not say %q", part)
		}
	}
}

func TestOneStepAndConstantsCanBePlotted(t *testing.T) {
	record := exampleRecord(1)
	record.Steps[0].Metrics = map[string]float64{journal.RewardMean: 0, journal.GradNorm: 7, journal.Entropy: math.NaN()}
	doc, page := written(t, Input{Record: record})
	if n := len(find(doc, is(atom.Figure))); n != 3 {
		t.Errorf("%d figures, want pass@1, reward and gradient norm", n)
	}
	if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("a plot holds a coordinate that is no number")
	}
}

func TestLongTextLosesItsMiddle(t *testing.T) {
	got := excerpt("begin" + strings.Repeat("é", maxText) + "end")
	if len(got) > maxText+100 || !strings.HasPrefix(got, "beginé") || !strings.HasSuffix(got, "éend") ||
		!strings.Contains(got, fmt.Sprintf("[… %d bytes left out …]", 5+2*maxText+3-maxText)) {
		t.Errorf("%d bytes: %.20q ... %q", len(got), got, got[len(got)-20:])
	}
}

func TestWriteNamesThePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "report.html")
	if err := Write(path, Input{}); err == nil || !strings.Contains(err.Error(), "writing the report") || !strings.Contains(err.Error(), "missing") {
		t.Errorf("error is %v", err)
	}
}
