package testlog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// logParsers are the parser names in rows of datasets, and our formats: the registry
// of SWE-bench v5, and what SWE-rebench V2's install_config.log_parser may hold.
var logParsers = map[string]string{
	// SWE-bench v5 and, by the same names, SWE-rebench V2.
	"parse_log_pytest": "pytest", "parse_log_pytest_options": "pytest-options", "parse_log_pytest_v2": "pytest-v2",
	"parse_log_django": "django", "parse_log_seaborn": "seaborn", "parse_log_sympy": "sympy", "parse_log_matplotlib": "matplotlib",
	"parse_log_astroid": "pytest", "parse_log_flask": "pytest", "parse_log_marshmallow": "pytest", "parse_log_pvlib": "pytest",
	"parse_log_pyvista": "pytest", "parse_log_sqlfluff": "pytest", "parse_log_xarray": "pytest",
	"parse_log_pydicom": "pytest-options", "parse_log_requests": "pytest-options", "parse_log_pylint": "pytest-options",
	"parse_log_astropy": "pytest-v2", "parse_log_scikit": "pytest-v2", "parse_log_sphinx": "pytest-v2",
	"parse_log_gotest": "go-test", "parse_log_cargo": "cargo",
	"parse_log_jest": "jest", "parse_log_jest_json": "jest-json", "parse_log_vitest": "vitest", "parse_log_karma": "karma",
	"parse_log_tap": "tap", "parse_log_chart_js": "chart-js", "parse_log_marked": "marked", "parse_log_react_pdf": "react-pdf",
	"parse_log_maven": "maven", "parse_log_ant": "ant", "parse_log_gradle_custom": "gradle",
	"parse_log_phpunit": "phpunit", "parse_log_redis": "redis", "parse_log_jq": "automake", "parse_log_doctest": "doctest",
	"parse_log_micropython_test": "micropython", "parse_log_googletest": "googletest",
	"parse_log_minitest": "minitest", "parse_log_cucumber": "cucumber", "parse_log_ruby_unit": "test-unit",
	"parse_log_rspec_transformed_json": "rspec",
	// SWE-rebench V2 alone.
	"parse_log_pydantic": "pytest", "parse_log_dvc": "pytest",
	"parse_log_junit": "junit-xml", "parse_log_sbt": "junit-xml",
	"parse_combined_test_reports": "junit-xml-colons", "parse_logs_r_junit": "junit-xml-colons", "parse_log_r_junit": "junit-xml-colons",
	"parse_log_gradlew_v1": "junit-xml-gradle",
	"parse_log_cpp_v4":     "ctest", "parse_log_swift": "swift",
}

// LogParsers returns the datasets' parser names that [FormatOf] knows, sorted.
func LogParsers() []string { return slices.Sorted(maps.Keys(logParsers)) }

// FormatOf returns the format of a dataset's log_parser; our own names stand for
// themselves. The error lists what is known.
func FormatOf(logParser string) (string, error) {
	if CheckFormat(logParser) == nil {
		return logParser, nil
	}
	if format, ok := logParsers[logParser]; ok {
		return format, nil
	}
	return "", fmt.Errorf("unknown log parser %q, want one of %s, or a format: %s",
		logParser, strings.Join(LogParsers(), ", "), strings.Join(Formats(), ", "))
}
