package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/pipelines/dataset"
	"millrace/pipelines/export"
	"millrace/schemas"
)

const day = "2026-11-20"

// put writes a table of a run below dir.
func put[T any](t *testing.T, dir, run, table string, codec dataset.Codec[T], rows ...T) {
	t.Helper()
	w := dataset.NewWriter(filepath.Join(dir, run, "data", table), run, codec)
	defer w.Abandon()
	for _, r := range rows {
		if err := w.Add(r, day, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// runs writes two runs, a and b: three trajectories of a, of which the last was
// lost to the infrastructure, and one of b.
func runs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	trajectory := func(run string, rollout int32, value float64) schemas.Reward {
		return schemas.Reward{Value: value, Passed: []string{"TestA", "TestB<T>"}, Duration: 250_000, Trajectory: schemas.Trajectory{
			ID: schemas.TrajectoryID(run, "wrap/1", 3, rollout, 0), GroupID: schemas.GroupID(run, "wrap/1", 3), Run: run, Iteration: 3, Rollout: rollout,
			Task: schemas.Task{ID: "wrap/1", Repo: "wrap", Rollouts: 3}, Termination: schemas.Finished, Patch: "--- a/\xff\n",
			Tokens: []int32{1, 2, 3, 4, 5}, LossMask: []bool{false, true, true, false, true},
			LogProbs: []float32{0, -1, -1, 0, -1}, Versions: []int32{-1, 2, 3, -1, 3},
			Steps:   []schemas.Step{{TokenStart: 1, TokenEnd: 3, Tool: "execute_bash", Action: "go test", Acting: 1_500_000}, {TokenStart: 4, TokenEnd: 5, Action: "?"}},
			Started: 1795219190000000, Finished: 1795219192500000,
		}}
	}
	lost := trajectory("a", 2, 0)
	lost.Failure, lost.Trajectory.ImageDigest = "no namespace", "sha256:5eed"
	put(t, dir, "a", export.Trajectories, schemas.Rewards, trajectory("a", 0, 1), trajectory("a", 1, 0), lost)
	put(t, dir, "b", export.Trajectories, schemas.Rewards, trajectory("b", 0, 1))
	sample := func(rollout int32, weight float32, excluded string) schemas.Sample {
		return schemas.Sample{ID: fmt.Sprint("s", rollout), GroupID: "g", Rollout: rollout, Weight: weight, Excluded: excluded,
			Termination: schemas.Finished, GroupMembers: 1, GroupSize: 3, Reward: 0, Advantage: 0.5}
	}
	put(t, dir, "a", export.Samples, schemas.Samples, sample(0, 1, ""), sample(1, 0, "time"), sample(2, 0, "unscored"))
	unscored := trajectory("a", 0, 0).Trajectory
	unscored.Termination, unscored.Failure = schemas.Failed, "no namespace"
	put(t, dir, "a", export.Rollouts, schemas.Trajectories, trajectory("a", 1, 0).Trajectory, unscored)
	put(t, dir, "a", export.Filtered, schemas.Members, schemas.Member{Reward: trajectory("a", 0, 1), Excluded: "steps"}, schemas.Member{Reward: trajectory("a", 1, 0.5), Counts: true})
	put(t, dir, "a", export.Ledger, schemas.Updates, schemas.Update{Run: "a", Step: 1, SampleIDs: []string{"s0", "s1"}, CodeVersion: "0e2821f"})
	put(t, dir, "a", export.DeadLetters, schemas.DeadLetters, schemas.DeadLetter{ID: "x", Stage: "learn", Reason: schemas.Stale,
		Key: []byte("k\x00"), Payload: []byte("123"), Source: schemas.Position{Topic: "a.samples", Partition: 1, Offset: 7}})
	put(t, dir, "a", export.Metrics, schemas.Measurements, schemas.Measurement{Run: "a", Step: 1, Name: "actor/lr", Value: math.NaN()})
	return dir
}

// ask answers a query as CSV.
func ask(t *testing.T, query string, dirs ...string) string {
	t.Helper()
	var out bytes.Buffer
	sink := NewCSV(&out)
	if err := errors.Join(Run(t.Context(), dirs, query, sink), sink.Close()); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out.String()
}

func TestQueries(t *testing.T) {
	dir := runs(t)
	for _, c := range []struct{ query, want string }{
		// A failure is no reward, in a mean neither (invariant 1): (1 + 0) / 2.
		{"SELECT run, count(*), avg(reward) FROM trajectories GROUP BY run ORDER BY run", "run,count(*),avg(reward)\na,3,0.5\nb,1,1\n"},
		{"SELECT failure, termination FROM trajectories WHERE reward IS NULL", "failure,termination\nno namespace,finished\n"},
		{"SELECT rollout, image_digest FROM trajectories WHERE run = 'a' ORDER BY rollout", "rollout,image_digest\n0,\n1,\n2,sha256:5eed\n"},
		{"SELECT day, repo, task, turns, tokens, sampled_tokens, policy_version, policy_version_last, tools FROM trajectories WHERE run = 'b'",
			"day,repo,task,turns,tokens,sampled_tokens,policy_version,policy_version_last,tools\n" + day + `,wrap,wrap/1,2,5,3,2,3,"[""execute_bash""]"` + "\n"},
		{"SELECT patch, tests_passed, tests_failed, started, seconds, scoring_seconds, image FROM trajectories WHERE run = 'b'",
			"patch,tests_passed,tests_failed,started,seconds,scoring_seconds,image\n\"--- a/\uFFFD\n\",\"[\"\"TestA\"\",\"\"TestB<T>\"\"]\",[],2026-11-20 23:59:50.000,2.5,0.25,\n"},
		{"SELECT turn, tool, action, sampled_tokens, policy_version, acting_seconds FROM steps WHERE run = 'b'",
			"turn,tool,action,sampled_tokens,policy_version,acting_seconds\n1,execute_bash,go test,2,2,1.5\n2,,?,1,3,0\n"},
		{"SELECT excluded, reward, weight FROM samples ORDER BY rollout", "excluded,reward,weight\n,0,1\ntime,0,0\nunscored,,0\n"},
		{"SELECT l.step, s.advantage, l.code_version FROM ledger l, json_each(l.sample_ids) j JOIN samples s ON s.id = j.value WHERE s.weight = 1",
			"step,advantage,code_version\n1,0.5,0e2821f\n"},
		{`SELECT reason, topic, partition, "offset", payload_bytes FROM dead_letters`, "reason,topic,partition,offset,payload_bytes\nstale,a.samples,1,7,3\n"},
		{"SELECT step, name, value FROM metrics;  -- of the learner\n", "step,name,value\n1,actor/lr,\n"},
		{"WITH best AS (SELECT max(reward) m FROM trajectories) SELECT m FROM best", "m\n1\n"},
		{"SELECT rollout, turns, sampled_tokens, seconds, failure FROM rollouts ORDER BY rollout",
			"rollout,turns,sampled_tokens,seconds,failure\n0,2,3,2.5,no namespace\n1,2,3,2.5,\n"},
		{"SELECT rollout, turns, reward, excluded, counts FROM filtered ORDER BY rollout",
			"rollout,turns,reward,excluded,counts\n0,2,1,steps,0\n1,2,0.5,,1\n"},
		{"SELECT 'a;b' AS \"x;y\"", "x;y\na;b\n"},
	} {
		if got := ask(t, c.query, dir); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.query, got, c.want)
		}
	}
}

// TestRunsOfOneName: the arms of an ablation have runs of the same names.
func TestRunsOfOneName(t *testing.T) {
	dir := t.TempDir()
	for _, arm := range []string{"grpo", "dapo"} {
		put(t, filepath.Join(dir, arm), "seed-1", export.Metrics, schemas.Measurements, schemas.Measurement{Run: "seed-1", Step: 1, Name: "actor/lr", Value: float64(len(arm))})
	}
	query := "SELECT dir, run, sum(value) v FROM metrics GROUP BY dir, run ORDER BY dir"
	want := fmt.Sprintf("dir,run,v\n%[1]s/dapo/seed-1,seed-1,4\n%[1]s/grpo/seed-1,seed-1,4\n", dir)
	if got := ask(t, query, filepath.Join(dir, "grpo"), filepath.Join(dir, "dapo")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRunsAreTakenOnce: a run named by itself and by its directory counts once.
func TestRunsAreTakenOnce(t *testing.T) {
	dir := runs(t)
	if got := ask(t, "SELECT count(*) FROM trajectories", dir, filepath.Join(dir, "a")); got != "count(*)\n4\n" {
		t.Errorf("got %q", got)
	}
	if got := ask(t, "SELECT count(*) FROM trajectories", filepath.Join(dir, "a"), filepath.Join(dir, "b")); got != "count(*)\n4\n" {
		t.Errorf("got %q", got)
	}
}

// TestOnlyNamedTablesAreLoaded: a query does not touch the files of a table that
// it does not read, so a damaged one does not hinder it.
func TestOnlyNamedTablesAreLoaded(t *testing.T) {
	dir := runs(t)
	files, err := dataset.Find(filepath.Join(dir, "a", "data"), export.Trajectories)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0].Path, []byte("no Parquet"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, "SELECT count(*) FROM samples", dir); got != "count(*)\n3\n" {
		t.Errorf("got %q", got)
	}
	err = Run(t.Context(), []string{dir}, "SELECT count(*) FROM steps", NewCSV(&bytes.Buffer{}))
	if err == nil || !strings.Contains(err.Error(), files[0].Path) {
		t.Errorf("error of a damaged file: %v", err)
	}
}

func TestErrorsSayWhatThereIs(t *testing.T) {
	dir, empty := runs(t), t.TempDir()
	for _, c := range []struct {
		dir, query string
		want       []string
	}{
		{dir, "SELECT rewrad FROM trajectories", []string{"no column rewrad (did you mean reward?)", "trajectories has run, day, dir, id"}},
		{dir, "SELECT t.turn FROM trajectories t", []string{"no column t.turn (did you mean turns?)"}},
		{dir, `SELECT "nothing like it" FROM samples`, []string{"no column nothing", "samples has run"}},
		{dir, "SELECT * FROM trajectory", []string{"no table trajectory (did you mean trajectories?)", "there are trajectories, steps, samples, rollouts, filtered, ledger, dead_letters, metrics"}},
		{dir, "SELECT * FROM", []string{"incomplete input"}},
		{empty, "SELECT * FROM steps", []string{"no data for table steps", filepath.Join(empty, "data", "trajectories"), "millrace report"}},
		{filepath.Join(dir, "b"), "SELECT * FROM samples", []string{"no data for table samples", filepath.Join(dir, "b", "data", "samples")}},
		{dir, "SELECT 1; SELECT 2", []string{"one statement"}},
		{dir, "DELETE FROM samples", []string{"SELECT, WITH or VALUES, not with DELETE"}},
		{dir, " -- nothing\n", []string{"empty"}},
	} {
		err := Run(t.Context(), []string{c.dir}, c.query, NewCSV(&bytes.Buffer{}))
		if err == nil {
			t.Errorf("%s: no error", c.query)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", c.query, err, w)
			}
		}
	}
}

// TestQueriesOnlyRead: what begins as a query and writes is refused by the
// engine, and nothing appears beside the runs or in the working directory.
func TestQueriesOnlyRead(t *testing.T) {
	dir := runs(t)
	here := t.TempDir()
	t.Chdir(here)
	for _, query := range []string{
		"WITH x AS (SELECT 1) INSERT INTO ledger (step) SELECT * FROM x",
		"WITH x AS (SELECT 1) DELETE FROM ledger",
	} {
		if err := Run(t.Context(), []string{dir}, query, NewCSV(&bytes.Buffer{})); err == nil || !strings.Contains(err.Error(), "readonly") {
			t.Errorf("%s: error %v", query, err)
		}
	}
	ask(t, "SELECT count(*) FROM steps", dir)
	if entries, err := os.ReadDir(here); err != nil || len(entries) > 0 {
		t.Errorf("working directory holds %v, %v", entries, err)
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		query string
		want  string
	}{
		{"SELECT 1 AS a, NULL AS b, 'x\"<' AS c, 0.5 AS d UNION ALL SELECT 2, 1e999, x'41', 3", "[{\"a\": 1, \"b\": null, \"c\": \"x\\\"<\", \"d\": 0.5},\n {\"a\": 2, \"b\": null, \"c\": \"A\", \"d\": 3}]\n"},
		{"SELECT 1 AS a WHERE 0", "[]\n"},
	} {
		var out bytes.Buffer
		sink := NewJSON(&out)
		if err := errors.Join(Run(t.Context(), nil, c.query, sink), sink.Close()); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want || !json.Valid(out.Bytes()) {
			t.Errorf("%s gives %q, want %q", c.query, out.String(), c.want)
		}
	}
}

// TestDocsListTheColumns keeps docs/data.md in step with the tables.
func TestDocsListTheColumns(t *testing.T) {
	docs, err := os.ReadFile("../../docs/data.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range Tables {
		_, section, found := strings.Cut(string(docs), "\n### `"+table.Name+"`")
		if !found {
			t.Errorf("docs/data.md has no table %s", table.Name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		for _, c := range table.Columns {
			if line := fmt.Sprintf("| `%s` | %s | %s |", c.Name, c.Type, c.Doc); !strings.Contains(section, line) {
				t.Errorf("docs/data.md lacks of table %s the line\n%s", table.Name, line)
			}
		}
	}
}
