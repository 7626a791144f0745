package testlog

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// logs calls f with every log of testdata/logs and its format.
func logs(t testing.TB, f func(format, name, log string)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "logs", "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		format, _, _ := strings.Cut(filepath.Base(name), ".")
		f(format, strings.TrimSuffix(name, ".log"), string(b))
	}
}

func parse(t testing.TB, format, log string, o Options) Results {
	t.Helper()
	r, err := Parse(format, log, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unlike are verdicts in which compat and the original differ on purpose.
var unlike = map[string]map[string]Status{
	// The original takes a method that ends with an error for a pass.
	"swe-smith-surefire": {"com.example.PriceTest.parses": Failed},
	// The original does not see "***Failed".
	"ctest": {"net test": Failed},
}

// TestCompatIsTheOriginal: with compat each format gives what the original parser
// gives, which was run on the same log.
func TestCompatIsTheOriginal(t *testing.T) {
	seen := map[string]bool{GoTestJSON: true, "pytest-v2-3.0.2": true} // these have tests of their own
	logs(t, func(format, name, log string) {
		seen[format] = true
		b, err := os.ReadFile(name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]Status
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		maps.Copy(want, unlike[format])
		if d := cmp.Diff(want, parse(t, format, log, Options{Compat: true}).Statuses(), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-original +ours):\n%s", name, d)
		}
	})
	for _, format := range Formats() {
		if !seen[format] {
			t.Errorf("testdata/logs has no log of %s", format)
		}
	}
}

// beyond are names that a format makes beyond the original's, and must, in the logs of
// testdata: sympy's last test of a file, behind which the file's result stands, and
// what go test began and did not end.
var beyond = map[string][]string{"sympy": {"test_subs"}}

// TestNoOtherNames: without compat a format makes the dataset's own names, no others.
func TestNoOtherNames(t *testing.T) {
	logs(t, func(format, name, log string) {
		theirs, ours := parse(t, format, log, Options{Compat: true}).Statuses(), parse(t, format, log, Options{}).Statuses()
		for test := range ours {
			if _, ok := theirs[test]; !ok && !slices.Contains(beyond[format], test) {
				t.Errorf("%s: %q is not a name of the original's", name, test)
			}
		}
		for test, s := range theirs {
			if _, ok := ours[test]; !ok && !(s == Skipped && count(test)) {
				t.Errorf("%s: %q is missing", name, test)
			}
		}
	})
}

// TestQualifiedNames: what tells tests of one name apart, in the logs where names
// collide, and what the shared name has come to.
func TestQualifiedNames(t *testing.T) {
	for format, tt := range map[string]struct {
		names  map[string]Status // by Name, or Test where that says all
		shared map[string]Status // by Test
	}{
		"go-test": {
			map[string]Status{"example.com/shop/cart.TestParse": Passed, "example.com/shop/price.TestParse": Failed, "example.com/shop/cart.TestTotal/empty": Passed, "example.com/shop/cart.TestSlow": Skipped, "example.com/shop/price.TestPanics": Failed},
			map[string]Status{"TestParse": Failed, "TestRound": Passed},
		},
		"pytest": {
			map[string]Status{"tests/a/test_cart.py::test_count[one apple]": Passed, "tests/a/test_cart.py::test_count[one pear]": Failed, "tests/a/test_cart.py::test_fixture": Error, "tests/a/test_cart.py::test_later": XFail},
			map[string]Status{"tests/a/test_cart.py::test_count[one": Failed},
		},
		"pytest-options": {
			map[string]Status{"tests/a/test_cart.py::test_path[/y.txt]": Passed, "tests/a/test_cart.py::test_path[//net]": Passed, "tests/a/test_cart.py::test_path[/a/*]": Passed},
			nil,
		},
		"r2e": {
			map[string]Status{"tests/a/test_cart.py::test_same": Passed, "tests/b/test_price.py::test_same": Failed, "tests/a/test_cart.py::TestCart::test_add": Failed},
			map[string]Status{"test_same": Failed, "TestCart.test_add": Failed, "test_price": Passed},
		},
		"sympy": {
			map[string]Status{"sympy/core/tests/test_basic.py:test_structure": Passed, "sympy/core/tests/test_expr.py:test_structure": Failed, "sympy/core/tests/test_basic.py:test_subs": Passed},
			map[string]Status{"test_structure": Failed, "test_equality": Passed, "test_series": Error},
		},
		"django": {
			map[string]Status{"test_parse (cart.tests.CartTests) A price can be parsed.": Passed, "test_parse (cart.tests.OtherTests) A price can be parsed.": Failed, "test_late (cart.tests.LateTests)": Passed, "test_tax (cart.tests.CartTests)": Error},
			map[string]Status{"A price can be parsed.": Failed, "One for each backend.": Passed},
		},
		"cargo": {
			map[string]Status{"shop_cli src/lib.rs tests::parse": Failed, "shop_core src/lib.rs tests::parse": Passed, "cli tests/cli.rs runs": Passed},
			map[string]Status{"tests::parse": Failed, "tests::help": Passed},
		},
		"jest": {
			map[string]Status{"src/cart.test.js > parses": Passed, "src/cart.test.js > cart > parses": Passed, "src/price.test.js > price > parses": Failed, "src/cart.test.js > cart > with items > adds": Failed, "src/price.test.js > price > rounds (up)": Passed},
			map[string]Status{"parses": Failed, "empty": Passed, "skipped ships": Skipped},
		},
		"vitest": {
			map[string]Status{"vt/cart.test.mjs > cart > adds 2": Failed, "vt/price.test.mjs > price > parses": Passed},
			map[string]Status{"vt/cart.test.mjs > cart > adds": Failed},
		},
		"tap": {
			map[string]Status{"cart > - parses": Passed, "price > - parses": Failed, "cart > - adds": Failed, "- alone": Passed},
			map[string]Status{"- parses": Failed},
		},
		"phpunit": {
			map[string]Status{`Cart (Shop\Tests\Cart) > It ships`: Failed, `Cart (Shop\Tests\Other\Cart) > It ships`: Passed},
			map[string]Status{"Cart > It ships": Failed, `Cart > It adds with data set "a b"`: Passed},
		},
		"pytest-v2": { // in colours
			map[string]Status{"tests/a/test_cart.py::test_count[one apple]": Passed, "tests/b/test_price.py::test_same": Failed},
			nil,
		},
	} {
		b, err := os.ReadFile(filepath.Join("testdata", "logs", format+".log"))
		if err != nil {
			t.Fatal(err)
		}
		r := parse(t, format, string(b), Options{})
		got := map[string]Status{}
		for _, v := range r.Verdicts {
			name := v.Name
			if name == "" {
				name = v.Test
			}
			got[name] = v.Status
		}
		contains(t, format, got, tt.names)
		contains(t, format, r.Statuses(), tt.shared)
	}
}

func contains(t *testing.T, format string, got, want map[string]Status) {
	t.Helper()
	for name, s := range want {
		if got[name] != s {
			t.Errorf("%s: %q is %q, want %q; all: %q", format, name, got[name], s, slices.Sorted(maps.Keys(got)))
		}
	}
}
