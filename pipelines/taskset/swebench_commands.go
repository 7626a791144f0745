package taskset

import (
	"slices"
	"strings"
)

// era is how a stretch of a repository's versions is tested in the images of
// SWE-bench's harness of version 4.
type era struct {
	// versions are those of the column version.
	versions string
	// prepare are commands before the others, such as a locale.
	prepare []string
	// install takes the agent's patch into the environment.
	install string
	// test is the command that the paths of the tests follow.
	test string
}

// The test commands.
const (
	pytestAll     = "pytest -rA"
	pytestClassic = "pytest -rA -vv -o console_output_style=classic --tb=no"
	pytestBare    = "pytest --no-header -rA"
	djangoTests   = "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1"
	djangoOwn     = "./tests/runtests.py --verbosity 2"
	sphinxTox     = "tox --current-env -epy39 -v --"
	sympyTests    = "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose"
)

// The install commands.
const (
	editable      = "python -m pip install -e ."
	editableTests = "python -m pip install -e .[test]"
	setupInstall  = "python setup.py install"
)

// Django's tests print and read text that is not ASCII.
var (
	djangoLocale   = []string{"export LANG=en_US.UTF-8", "export LC_ALL=en_US.UTF-8", "export PYTHONIOENCODING=utf8", "export LANGUAGE=en_US:en"}
	djangoMakeUTF8 = []string{"sed -i '/en_US.UTF-8/s/^# //g' /etc/locale.gen && locale-gen", "export LANG=en_US.UTF-8", "export LANGUAGE=en_US:en", "export LC_ALL=en_US.UTF-8"}
)

// sweBenchEras are the twelve repositories of SWE-bench. The facts are those of the
// harness (SWE-bench v4.1.0, harness/constants/python.py, MIT).
var sweBenchEras = map[string][]era{
	"astropy/astropy": {
		{"0.1 0.2 0.3 0.4 1.1 1.2 1.3", nil, editableTests + " --verbose", pytestClassic},
		{"3.0 3.1 3.2 4.1 4.2 4.3 5.0 5.1 5.2 v5.3", nil, editableTests + " --verbose", pytestAll},
	},
	"django/django": {
		{"1.4 1.5 1.6", nil, setupInstall, djangoTests},
		{"1.7 1.8 1.10 1.11 2.0 2.1 2.2", djangoLocale, setupInstall, djangoTests},
		{"1.9", djangoLocale, setupInstall, djangoOwn},
		{"3.0 3.1 3.2", djangoMakeUTF8, editable, djangoTests},
		{"4.0 4.1 4.2 5.0 5.1 5.2", nil, editable, djangoTests},
	},
	"matplotlib/matplotlib": {
		{"1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2", nil, "python setup.py build; python setup.py install", pytestAll},
		{"3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7", nil, editable, pytestAll},
		{"3.8 3.9", nil, `python -m pip install --no-build-isolation -e ".[dev]"`, pytestAll},
	},
	"mwaskom/seaborn": {
		{"0.11", nil, editable, pytestBare},
		{"0.12 0.13 0.14", nil, "python -m pip install -e .[dev]", pytestBare},
	},
	"pallets/flask": {{"2.0 2.1 2.2 2.3 3.0 3.1", nil, editable, pytestAll}},
	"psf/requests": {{"0.7 0.8 0.9 0.11 0.13 0.14 1.1 1.2 2.0 2.2 2.3 2.4 2.5 2.7 2.8 2.9 2.10 2.11 2.12 2.17 2.18 2.19 2.22 2.25 2.26 2.27 2.31 3.0",
		nil, "python -m pip install .", pytestAll}},
	"pydata/xarray":     {{"0.12 0.18 0.19 0.20 2022.03 2022.06 2022.09 2023.07 2024.05", nil, editable, pytestAll}},
	"pylint-dev/pylint": {{"2.8 2.9 2.10 2.11 2.13 2.14 2.15 2.16 2.17 3.0 3.1 3.2 3.3 4.0", nil, editable, pytestAll}},
	"pytest-dev/pytest": {{"4.4 4.5 4.6 5.0 5.1 5.2 5.3 5.4 6.0 6.2 6.3 7.0 7.1 7.2 7.4 8.0 8.1 8.2 8.3 8.4",
		nil, editable, pytestAll}},
	"scikit-learn/scikit-learn": {{"0.20 0.21 0.22 1.3 1.4 1.5 1.6",
		nil, "python -m pip install -v --no-use-pep517 --no-build-isolation -e .", pytestAll}},
	"sphinx-doc/sphinx": {{"1.5 1.6 1.7 1.8 2.0 2.1 2.2 2.3 2.4 3.0 3.1 3.2 3.3 3.4 3.5 4.0 4.1 4.2 4.3 4.4 4.5 5.0 5.1 5.2 5.3 6.0 6.2 7.0 7.1 7.2 7.3 7.4 8.0 8.1",
		nil, editableTests, sphinxTox}},
	"sympy/sympy": {{"0.7 1.0 1.1 1.2 1.4 1.5 1.6 1.7 1.8 1.9 1.10 1.11 1.12 1.13 1.14", nil, editable, sympyTests}},
}

// eraOf returns how a version of a repository is tested, and whether that is known.
func eraOf(repo, version string) (era, bool) {
	for _, e := range sweBenchEras[repo] {
		if slices.Contains(strings.Fields(e.versions), version) {
			return e, true
		}
	}
	return era{}, false
}

// notTests are the ends of files in a test patch that no test runner takes.
var notTests = []string{".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml"}

// directives are what a test command is given for the files of a test patch: their
// paths, or of Django the modules.
func directives(repo string, files []string) []string {
	var out []string
	for _, f := range files {
		if slices.ContainsFunc(notTests, func(end string) bool { return strings.HasSuffix(f, end) }) {
			continue
		}
		if repo == "django/django" {
			f = strings.TrimPrefix(strings.TrimSuffix(f, ".py"), "tests/")
			f = strings.ReplaceAll(f, "/", ".")
		}
		out = append(out, f)
	}
	return out
}
