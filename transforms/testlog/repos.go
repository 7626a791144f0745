package testlog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// repos are the formats of SWE-bench's repositories, in lower case: the twelve of
// SWE-bench, those of its development split, of SWE-bench Multilingual, and the ones
// of SWE-bench Multimodal whose formats are known here.
var repos = map[string]string{
	"astropy/astropy": "pytest-v2", "django/django": "django", "matplotlib/matplotlib": "matplotlib", "mwaskom/seaborn": "seaborn",
	"pallets/flask": "pytest", "psf/requests": "pytest-options", "pydata/xarray": "pytest", "pylint-dev/pylint": "pytest-options",
	"pytest-dev/pytest": "pytest", "scikit-learn/scikit-learn": "pytest-v2", "sphinx-doc/sphinx": "pytest-v2", "sympy/sympy": "sympy",

	"marshmallow-code/marshmallow": "pytest", "pvlib/pvlib-python": "pytest", "pydicom/pydicom": "pytest-options",
	"pylint-dev/astroid": "pytest", "pyvista/pyvista": "pytest", "sqlfluff/sqlfluff": "pytest",

	"redis/redis": "redis", "valkey-io/valkey": "redis", "jqlang/jq": "automake", "nlohmann/json": "doctest",
	"micropython/micropython": "micropython", "fmtlib/fmt": "googletest",
	"caddyserver/caddy": "go-test", "hashicorp/terraform": "go-test", "prometheus/prometheus": "go-test",
	"gohugoio/hugo": "go-test", "gin-gonic/gin": "go-test",
	"google/gson": "maven", "apache/druid": "maven", "javaparser/javaparser": "maven", "projectlombok/lombok": "ant",
	"apache/lucene": "gradle", "reactivex/rxjava": "gradle",
	"babel/babel": "jest", "facebook/docusaurus": "jest", "vuejs/core": "vitest", "mrdoob/three.js": "tap",
	"axios/axios": "tap", "preactjs/preact": "karma",
	"phpoffice/phpspreadsheet": "phpunit", "laravel/framework": "phpunit", "php-cs-fixer/php-cs-fixer": "phpunit", "briannesbitt/carbon": "phpunit",
	"fluent/fluentd": "test-unit", "faker-ruby/faker": "test-unit", "fastlane/fastlane": "rspec", "jordansissel/fpm": "rspec", "rubocop/rubocop": "rspec",
	"burntsushi/ripgrep": "cargo", "sharkdp/bat": "cargo", "astral-sh/ruff": "cargo", "tokio-rs/tokio": "cargo",
	"uutils/coreutils": "cargo", "nushell/nushell": "cargo", "tokio-rs/axum": "cargo",

	"chartjs/chart.js": "chart-js", "markedjs/marked": "marked", "diegomura/react-pdf": "react-pdf",
}

// instances are the formats of repositories whose instances differ: by the number
// that the instance's id ends with.
var instances = map[string]map[string]string{
	"immutable-js/immutable-js": {"2005": "jest-json", "2006": "jest"},
	"jekyll/jekyll":             {"8047": "minitest", "8167": "minitest", "9141": "minitest", "8761": "cucumber", "8771": "cucumber"},
}

// FormatOfRepo returns the format that SWE-bench's harness reads an instance's logs
// in. repo is "owner/name" in any case; instance is the instance's id, which only
// the repositories of [instances] need. The error lists what is known.
func FormatOfRepo(repo, instance string) (string, error) {
	repo = strings.ToLower(repo)
	if format, ok := repos[repo]; ok {
		return format, nil
	}
	if numbers, ok := instances[repo]; ok {
		number := instance[strings.LastIndexByte(instance, '-')+1:]
		if format, ok := numbers[number]; ok {
			return format, nil
		}
		return "", fmt.Errorf("repository %s has a format for each instance, and that of %q is not known, want one ending with %s",
			repo, instance, strings.Join(slices.Sorted(maps.Keys(numbers)), ", "))
	}
	known := slices.Sorted(maps.Keys(repos))
	return "", fmt.Errorf("unknown repository %q, want one of %s", repo, strings.Join(known, ", "))
}
