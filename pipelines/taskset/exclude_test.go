package taskset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/schemas"
)

func TestCanonicalRepo(t *testing.T) {
	for given, want := range map[string]string{
		"django/django":                                       "django/django",
		"sympy":                                               "sympy",
		"django__django":                                      "django/django",
		"pytest-dev__pytest":                                  "pytest-dev/pytest",
		"https://github.com/sympy/sympy.git":                  "sympy/sympy",
		"git@github.com:Sympy/sympy.git":                      "Sympy/sympy",
		"swesmith/oauthlib__oauthlib.1fd52536":                "oauthlib/oauthlib",
		"swesmith/pallets__flask.bc098406":                    "pallets/flask",
		"swebench/swesmith.x86_64.psf_1776_requests.0a1b2c3d": "psf/requests",
		"oauthlib__oauthlib.1fd52536.combine_file__09vlzwgc":  "oauthlib/oauthlib",
		"swesmith/conan-io__conan.86f29e13":                   "conan-io/conan",
		"swesmith/bottlepy__bottle.py.a8dfef30":               "bottlepy/bottle.py",
		"swesmith/mozilla__my__odd-name.a8dfef30":             "mozilla/my__odd-name",
		" Unidata/netcdf-c ":                                  "Unidata/netcdf-c",
	} {
		if got := CanonicalRepo(given); got != want {
			t.Errorf("%q is %q, want %q", given, got, want)
		}
	}
}

func TestExclusions(t *testing.T) {
	commit := strings.Repeat("ab", 20)
	dir := t.TempDir()
	list := filepath.Join(dir, "list.txt")
	other := filepath.Join(dir, "other.jsonl")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(list, "# held out\nAcme__Widgets-17  # the second\n\n"+strings.ToUpper(commit)+"\n")
	write(other, `{"instance_id":"other__x-1","base_commit":"`+strings.Repeat("c", 40)+"\"}\n")
	x := excluding(t, append(Benchmark, "swesmith/acme__anvils.0a1b2c3d")...)
	for _, path := range []string{list, other} {
		if err := x.AddFile(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		task   schemas.Task
		reason Reason
		of     string
	}{
		{schemas.Task{ID: "a", Repo: "Django/django"}, OfRepository, "django/django"},
		{schemas.Task{ID: "a", Repo: "sympy"}, OfRepository, "sympy/sympy"},
		{schemas.Task{ID: "a", Repo: "PyCQA/pylint"}, OfRepository, "pylint-dev/pylint"},
		{schemas.Task{ID: "a", Repo: "swesmith/pallets__flask.bc098406"}, OfRepository, "pallets/flask"},
		{schemas.Task{ID: "a", Repo: "acme/anvils"}, OfRepository, "acme/anvils"},
		{schemas.Task{ID: "acme__widgets-17", Repo: "acme/widgets"}, OfInstance, "acme__widgets-17"},
		{schemas.Task{ID: "a", Repo: "b/c", BaseCommit: commit}, OfCommit, commit},
		{schemas.Task{ID: "aiohttp/r2e/" + commit, Repo: "aiohttp"}, OfCommit, commit},
		{schemas.Task{ID: "OTHER__x-1", Repo: "other/x"}, OfInstance, "OTHER__x-1"},
		{schemas.Task{ID: "y", Repo: "other/x", BaseCommit: strings.Repeat("c", 40)}, OfCommit, strings.Repeat("c", 40)},
		{schemas.Task{ID: "a", Repo: "django/channels"}, "", ""},
		{schemas.Task{ID: "a", Repo: "someone/flask"}, "", ""},
		{schemas.Task{ID: "a", Repo: "pandas"}, "", ""},
	} {
		if reason, of := x.of(c.task); reason != c.reason || of != c.of {
			t.Errorf("%s of %s: %q by %q, want %q by %q", c.task.ID, c.task.Repo, reason, of, c.reason, c.of)
		}
	}

	if _, err := NewExclusions("sympy"); err == nil || !strings.Contains(err.Error(), `"sympy": want owner/name`) {
		t.Errorf("a name without owner: %v", err)
	}
	write(list, "two words\n")
	if err := x.AddFile(t.Context(), list); err == nil || !strings.Contains(err.Error(), `list.txt: line 1: "two words"`) {
		t.Errorf("prose: %v", err)
	}
	write(other, "{\"instance_id\":\"a\"}\n{\"x\":1}\n")
	if err := x.AddFile(t.Context(), other); err == nil || !strings.Contains(err.Error(), "other.jsonl:2: has no instance_id") {
		t.Errorf("a row without a name: %v", err)
	}
}

func TestSplitOfFile(t *testing.T) {
	for path, want := range map[string]string{
		"data/test-00000-of-00001.parquet": "test", "x/train-00003-of-00008-0a1b2c3d4e5f.parquet": "train",
		"dev_10pr_v1-00000-of-00001.parquet": "dev_10pr_v1", "test.jsonl": "test", "tasks.jsonl": "", "2024.json": "", "validation.json.gz": "validation",
	} {
		if got := splitOfFile(path); got != want {
			t.Errorf("%s: split %q, want %q", path, got, want)
		}
	}
}
