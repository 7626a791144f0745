package taskset

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"millrace/pipelines/mine"
	"millrace/schemas"
	"millrace/transforms/testlog"
)

// TestR2EGoldPatch: the rebuilt patch, applied by an independent library to the
// files before, gives the files after, which the row holds both. It holds no test
// and nothing but Python.
func TestR2EGoldPatch(t *testing.T) {
	text, err := os.ReadFile("testdata/r2e-gym.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	r, err := parseRow([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	var contents struct {
		FileDiffs []struct {
			Old    string                               `json:"old_file_content"`
			New    string                               `json:"new_file_content"`
			Header struct{ File struct{ Path string } } `json:"header"`
		} `json:"file_diffs"`
	}
	r.object("parsed_commit_content", &contents)
	patch := r2eTask(r).GoldPatch
	if r.err != nil {
		t.Fatal(r.err)
	}
	files, _, err := gitdiff.Parse(strings.NewReader(patch))
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, f := range files {
		names += f.NewName + " "
		for _, c := range contents.FileDiffs {
			if c.Header.File.Path != f.NewName {
				continue
			}
			var got strings.Builder
			if err := gitdiff.Apply(&got, strings.NewReader(c.Old), f); err != nil {
				t.Errorf("%s: %v", f.NewName, err)
			}
			if got.String() != c.New {
				t.Errorf("%s becomes %q, want %q", f.NewName, got.String(), c.New)
			}
		}
	}
	if names != "aiohttp/_mime.py aiohttp/helpers.py " {
		t.Errorf("the patch is of %s", names)
	}
}

func TestIsTestFile(t *testing.T) {
	for name, want := range map[string]bool{
		"pkg/a_test.py": true, "test_a.py": true, "pkg/test_a.py": true, "tests/a.py": true, "pkg/Tests/a.py": true, "test/a.py": true,
		"pkg/testing.py": false, "latest/a.py": false, "pkg/contest_a.py": false,
	} {
		if isTestFile(name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}

// TestEras: what the tables name is known to the parsers, no version stands twice,
// and each of the twelve repositories has one.
func TestEras(t *testing.T) {
	if len(sweBenchEras) != len(Benchmark) {
		t.Errorf("%d repositories, want %d", len(sweBenchEras), len(Benchmark))
	}
	for _, repo := range Benchmark {
		if _, err := testlog.FormatOfRepo(repo, ""); err != nil {
			t.Error(err)
		}
		seen := map[string]bool{}
		for _, e := range sweBenchEras[repo] {
			for _, version := range strings.Fields(e.versions) {
				if seen[version] {
					t.Errorf("%s %s stands twice", repo, version)
				}
				seen[version] = true
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s has no version", repo)
		}
	}
	for _, format := range []string{formatR2E, formatPytest, formatSWESmith, formatSWESmithGo} {
		if err := testlog.CheckFormat(format); err != nil {
			t.Error(err)
		}
	}
	for _, rule := range []string{ruleR2E, ruleSWEBench, ruleSWEBench5, ruleFailOnly, ruleSWESmith, ruleSWERebench} {
		if err := testlog.CheckRule(rule); err != nil {
			t.Error(err)
		}
	}
}

// TestDirectives: the arguments of the tests are those of SWE-bench for its own
// instances (django__django-11099, sphinx-doc__sphinx-8595).
func TestDirectives(t *testing.T) {
	for _, c := range []struct {
		repo  string
		files []string
		want  string
	}{
		{"django/django", []string{"tests/auth_tests/test_validators.py"}, "auth_tests.test_validators"},
		{"django/django", []string{"tests/a/fixtures/x.json", "tests/a/tests.py"}, "a.tests"},
		{"sphinx-doc/sphinx", []string{"tests/roots/a/b.py", "tests/x.txt"}, "tests/roots/a/b.py"},
		{"psf/requests", []string{"data.csv"}, ""},
	} {
		if got := strings.Join(directives(c.repo, c.files), " "); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.repo, c.files, got, c.want)
		}
	}
}

// TestNestedValues: a list is read in both forms that datasets have, and what is
// neither is an error with its column.
func TestNestedValues(t *testing.T) {
	for _, c := range []struct {
		row  string
		want string
		bad  string
	}{
		{`{"T":["a","b","a"]}`, "a b", ""},
		{`{"T":"[\"a\", \"b\"]"}`, "a b", ""},
		{`{"T":""}`, "", ""},
		{`{"T":null}`, "", ""},
		{`{}`, "", ""},
		{`{"T":"['a']"}`, "", "T: parsing JSON: invalid character '\\'' looking for beginning of value"},
		{`{"T":["a",1]}`, "", "T: parsing JSON: json: cannot unmarshal number into Go value of type string"},
		{`{"T":{"a":1}}`, "", "T: parsing JSON: json: cannot unmarshal object into Go value of type []string"},
		{`{"T":["a"," "]}`, "", "T: blank test name at 1"},
	} {
		r, err := parseRow([]byte(c.row))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(r.names("T"), " ")
		if got != c.want || (r.err == nil) != (c.bad == "") || r.err != nil && r.err.Error() != c.bad {
			t.Errorf("%s: %q, %v; want %q, %s", c.row, got, r.err, c.want, c.bad)
		}
	}
}

// TestMissingColumns: a row without any one of the columns that its kind needs is a
// bad row that names it.
func TestMissingColumns(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		file     string
		required []string
	}{
		{R2E, "r2e-gym.jsonl", []string{"repo_name", "commit_hash", "docker_image", "problem_statement", "parsed_commit_content", "expected_output_json"}},
		{SWEBench, "swe-bench-v4.json", []string{"instance_id", "repo", "base_commit", "version", "patch", "test_patch", "problem_statement", "FAIL_TO_PASS"}},
		{SWEBench, "swe-bench-v5.json", []string{"instance_id", "repo", "base_commit", "patch", "problem_statement", "FAIL_TO_PASS", "image", "log_parser", "eval_type"}},
		{SWESmith, "swe-smith.jsonl", []string{"instance_id", "patch", "image_name", "problem_statement", "FAIL_TO_PASS"}},
		{SWERebench, "swe-rebench-v2.json", []string{"instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement", "FAIL_TO_PASS", "image_name"}},
	} {
		how, err := formatOf(c.kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range c.required {
			err := readRows(t.Context(), "testdata/"+c.file, DefaultRowBytes, func(c []string) ([]string, error) { return c, nil },
				func(n int64, _ float64, r *row, _ error) error {
					if n > 1 {
						return nil
					}
					delete(r.values, column)
					if _, err := taskOf(how, r, "", "train"); err == nil || err.Error() != column+": missing or blank" {
						t.Errorf("%s without %s: error %v", c.file, column, err)
					}
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestKindNotKnown(t *testing.T) {
	_, err := Import{Task: func(schemas.Task) error { return nil }}.Run(t.Context(), "testdata/swe-smith.jsonl", "../mine/corpus.go")
	if err == nil || !strings.Contains(err.Error(), "importing ../mine/corpus.go: \".go\" is not a form") {
		t.Errorf("error %v", err)
	}
	if _, err := formatOf(Auto, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "no kind of dataset has the columns a, b; there are native (id,") {
		t.Errorf("error %v", err)
	}
	if _, err := formatOf("parquet", nil); err == nil || !strings.Contains(err.Error(), `kind "parquet": there are [auto native`) {
		t.Errorf("error %v", err)
	}
}

// TestImportStops: the error of who takes the tasks ends the import and is passed on.
func TestImportStops(t *testing.T) {
	full := errors.New("disk is full")
	counts, err := Import{Task: func(schemas.Task) error { return full }}.Run(t.Context(), "testdata/swe-smith.jsonl")
	if !errors.Is(err, full) || counts.Rows != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
}

// TestLimits: what no command line can hold is an error of the row.
func TestLimits(t *testing.T) {
	for _, c := range []struct{ replace, want string }{
		{strings.Repeat("x", commandBytes+1), "test_command: takes "},
		{`\u0000`, "test_command: holds a zero byte"},
	} {
		r, err := parseRow([]byte(strings.Replace(nativeRow, "COMMAND", c.replace, 1)))
		if err != nil {
			t.Fatal(err)
		}
		how, err := formatOf(Native, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := taskOf(how, r, "", "train"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %.80v, want %s", err, c.want)
		}
	}
}

const nativeRow = `{"id":"a/b/1","repo":"a","split":"train","statement":"A fails.","image":"i","test_command":"COMMAND","test_format":"pytest","fail_to_pass":["x"]}`

// FuzzRow: a row of any kind becomes a task that can be written and read again, or
// an error; and the same row becomes the same.
func FuzzRow(f *testing.F) {
	for kind, name := range []string{"", "r2e-gym.jsonl", "swe-rebench-v2.json", "swe-bench-v4.json", "swe-smith.jsonl", "swe-bench-v5.json"} {
		if name == "" {
			f.Add(uint8(kind), []byte(nativeRow))
			continue
		}
		err := readRows(f.Context(), "testdata/"+name, DefaultRowBytes, func(c []string) ([]string, error) { return c, nil },
			func(_ int64, _ float64, r *row, bad error) error {
				f.Add(uint8(min(kind, len(formats)-1)), r.text)
				return bad
			})
		if err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, text []byte) {
		r, err := parseRow(text)
		if err != nil {
			return
		}
		task, err := taskOf(formats[int(kind)%len(formats)], r, "", "train")
		if err != nil {
			if at("f", 1, err).Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		var out strings.Builder
		if err := mine.Write(&out, []schemas.Task{task}); err != nil {
			t.Fatal(err)
		}
		again, bad, err := mine.Read("f", strings.NewReader(out.String()))
		if err != nil || len(bad) > 0 || len(again) != 1 || again[0].ID != task.ID {
			t.Fatalf("written and read again: %d tasks, %v, %v", len(again), bad, err)
		}
	})
}

// FuzzCommit: whatever stands in parsed_commit_content, the gold patch can be
// parsed or the row is bad.
func FuzzCommit(f *testing.F) {
	f.Add([]byte(`{"file_diffs":[{"header":{"file":{"path":"a.py"}},"minus_file":{"path":"a/a.py"},"plus_file":{"path":"b/a.py"},
		"hunks":[{"descriptor":{"old_range":{"start":1},"new_range":{"start":1,"length":2},"section":"def f"},
		"line_group":{"all_lines":[{"content":"x","type":"context"},{"content":"y","type":"added"},{"content":"","type":"context"}]}}]}]}`))
	f.Add([]byte(`{"file_diffs":[{"header":{"file":{"path":"a.py"}},"is_binary_file":true}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := &row{values: map[string]any{"parsed_commit_content": string(text)}}
		got := r2eCommit(r)
		if r.err == nil && !strings.HasPrefix(got.patch, "diff --git a/") {
			t.Errorf("patch %q", got.patch)
		}
	})
}
