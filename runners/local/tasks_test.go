package local

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// datasets are the rows of published datasets that package taskset is tested with.
func datasets(names ...string) (paths []string) {
	for _, n := range names {
		paths = append(paths, filepath.Join("..", "..", "pipelines", "taskset", "testdata", n))
	}
	return paths
}

// screen is a file to print on, and what was printed.
func screen(t *testing.T) (*os.File, func() string) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, func() string {
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

// TestTasks imports datasets, lists, shows and splits the set, as a user does.
func TestTasks(t *testing.T) {
	dir := t.TempDir()
	set, rejects := filepath.Join(dir, "tasks.jsonl"), filepath.Join(dir, "rejects.jsonl")
	out, printed := screen(t)
	o := ImportOptions{
		Files: datasets("r2e-gym.jsonl", "swe-bench-v4.json", "swe-smith.jsonl"), Kind: "auto", OutFile: set, Decontaminate: true,
		ExcludeRepos: []string{"gin-gonic/gin"}, Rejects: rejects, RowMiB: 1, Out: out,
	}
	if err := ImportTasks(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	// Of 16 rows: aiohttp of R2E-Gym and oauthlib of SWE-smith become tasks.
	for _, want := range []string{
		"  16  rows", "   2  tasks", "   6  bad rows", "   7  dropped: excluded repository", "   2    of sympy/sympy", "   1  dropped: id of an earlier row",
		"swe-bench-v4.json:6: FAIL_TO_PASS: parsing JSON", set + ": 2 tasks\n",
	} {
		if !strings.Contains(printed(), want) {
			t.Errorf("printed\n%s\nwant %q", printed(), want)
		}
	}
	text, err := os.ReadFile(rejects)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 14 {
		t.Errorf("%d rejects, want 14:\n%s", len(lines), text)
	}
	for _, line := range lines {
		var row struct{ File, Error, Reason string }
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.File == "" || (row.Error == "") == (row.Reason == "") {
			t.Errorf("reject %s, %v", line, err)
		}
	}

	var list bytes.Buffer
	if err := ListTasks(t.Context(), set, "OAUTHLIB__oauthlib", "train", "csv", &list); err != nil {
		t.Fatal(err)
	}
	const head = "task,repo,split,format,rule,fail to pass,pass to pass,expected,image\n"
	const oauthlib = "oauthlib__oauthlib.1fd52536.combine_file__09vlzwgc"
	const row = oauthlib + ",oauthlib/oauthlib,train,swe-smith,swe-smith,1,2,0,jyangballin/swesmith.x86_64.oauthlib_1776_oauthlib.1fd52536\n"
	if diff := cmp.Diff(head+row, list.String()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}

	var shown, asJSON bytes.Buffer
	if err := ShowTask(t.Context(), set, oauthlib, false, &shown); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"task         " + oauthlib + "\n", "\n── statement\n`scope_changed` is", "\n── gold patch\ndiff --git", "withheld     /withheld_tests\n"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("shown\n%s\nwant %q", shown.String(), want)
		}
	}
	if err := ShowTask(t.Context(), set, oauthlib, true, &asJSON); err != nil {
		t.Fatal(err)
	}
	var task struct{ ID, Setup string }
	if err := json.Unmarshal(asJSON.Bytes(), &task); err != nil || task.ID != oauthlib || task.Setup == "" {
		t.Errorf("shown as JSON: %+v, %v", task, err)
	}
	if err := ShowTask(t.Context(), set, "nobody", true, &asJSON); err == nil || err.Error() != `no task has the id "nobody"` {
		t.Errorf("error %v", err)
	}

	again := filepath.Join(dir, "split.jsonl")
	split := SplitOptions{File: set, OutFile: again, Repos: map[string]string{"aiohttp": "dev"}, Out: out}
	if err := SplitTasks(t.Context(), split); err != nil {
		t.Fatal(err)
	}
	list.Reset()
	if err := ListTasks(t.Context(), again, "", "dev", "csv", &list); err != nil || !strings.Contains(list.String(), "aiohttp/r2e/") || strings.Contains(list.String(), "oauthlib") {
		t.Errorf("list of dev: %v\n%s", err, list.String())
	}
}

// TestImportWithoutTasks: a file without a task is an error and leaves nothing
// behind, and so is one that cannot be read.
func TestImportWithoutTasks(t *testing.T) {
	dir := t.TempDir()
	out, _ := screen(t)
	broken := filepath.Join(dir, "broken.parquet")
	if err := os.WriteFile(broken, []byte("PAR1"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files []string
		want  string
	}{
		{datasets("swe-bench-v5.json"), "no row became a task; nothing is written"},
		{append(datasets("swe-smith.jsonl"), broken), "importing " + broken + ": "},
	} {
		o := ImportOptions{
			Files: c.files, Kind: "auto", OutFile: filepath.Join(dir, "tasks.jsonl"),
			ExcludeRepos: []string{"gin-gonic/gin", "chartjs/Chart.js"}, RowMiB: 1, Out: out,
		}
		if err := ImportTasks(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
		if _, err := os.Stat(o.OutFile); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a task set is there: %v", err)
		}
	}
}

// TestSplitLosesNothing: a set with a bad row, or with an id twice, is not split.
func TestSplitLosesNothing(t *testing.T) {
	dir := t.TempDir()
	out, _ := screen(t)
	good, err := os.ReadFile(datasets("swe-smith.tasks.jsonl")[0])
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(good, []byte("\n"))
	for text, want := range map[string]string{
		string(good) + "{}\n":               "set.jsonl:3: id: missing or blank",
		string(good) + string(first) + "\n": "is also the id of",
	} {
		set := filepath.Join(dir, "set.jsonl")
		if err := os.WriteFile(set, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		o := SplitOptions{File: set, OutFile: filepath.Join(dir, "out.jsonl"), Parts: map[string]float64{"a": 1}, Out: out}
		if err := SplitTasks(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if _, err := os.Stat(o.OutFile); err == nil {
			t.Error("a task set is there")
		}
	}
}

// TestHarmless: what could speak to a terminal is shown, not obeyed.
func TestHarmless(t *testing.T) {
	if got, want := harmless("a\r\n\tb\x1b[2J\u009b\x7f\r"), "a\n\tb\ufffd[2J\ufffd\ufffd\ufffd"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
