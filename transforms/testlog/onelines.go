package testlog

// The formats whose verdicts are single lines without anything around them that
// could tell equal names apart. Each is written from what the runner prints; the
// names are those that the datasets expect (SWE-bench v4 and v5, SWE-rebench V2,
// SWE-smith).
var (
	// antPatterns: Ant's junit task, "[junit] [PASS] name" (lombok).
	antPatterns = patterns{line(`^\[junit\]\s+\[(?P<word>PASS|FAIL|ERR)\]\s+(?P<test>.*)$`,
		map[string]Status{"PASS": Passed, "FAIL": Failed, "ERR": Failed}, "[junit]")}

	// automakePatterns: automake's check, "PASS: name" (jq, and many C projects).
	automakePatterns = patterns{line(`^(?P<word>PASS|FAIL):\s(?P<test>.+)$`,
		map[string]Status{"PASS": Passed, "FAIL": Failed}, "PASS:", "FAIL:")}

	// chartPatterns: karma as Chart.js runs it; it prints failures only.
	chartPatterns = patterns{always(Failed, `Chrome\s[\d.]+\s\([^\n]+?\)\s(?P<test>.*)FAILED$`, "FAILED")}

	// ctestPatterns: CMake's ctest, "1/2 Test #1: name ..... Passed 0.01 sec".
	ctestPatterns = patterns{line(`^\d+/\d+\s+Test\s+#\d+:\s+(?P<test>.+?)\s+\.+\s*\**\s*(?P<word>Passed|Failed|Skipped|Timeout)\b`,
		map[string]Status{"Passed": Passed, "Failed": Failed, "Timeout": Failed, "Skipped": Skipped}, " Test ")}

	// cucumberPatterns: "name ...." of cucumber's progress format (jekyll).
	cucumberPatterns = patterns{line(`^(?P<test>.*) \.+(?P<word>\.|F)`, map[string]Status{".": Passed, "F": Failed}, " .")}

	// googletestPatterns: "[       OK ] Suite.Name (0 ms)".
	googletestPatterns = patterns{line(`^.*\[\s*(?P<word>OK|FAILED)\s*\]\s(?P<test>.*)\s\(.*\)$`,
		map[string]Status{"OK": Passed, "FAILED": Failed}, "OK", "FAILED")}

	// jestJSONPatterns: jest's --json, rewritten to a line a test with its suites.
	jestJSONPatterns = patterns{line(`^\[(?P<word>PASSED|FAILED)\]\s(?P<test>.+)$`,
		map[string]Status{"PASSED": Passed, "FAILED": Failed}, "[PASSED]", "[FAILED]")}

	// markedPatterns: jasmine's numbered failures; it prints failures only.
	markedPatterns = patterns{always(Failed, `^\d+\)\s(?P<test>.*)`, ")")}

	// micropythonPatterns: "pass  basics/int1.py".
	micropythonPatterns = patterns{line(`^(?P<word>pass|FAIL|skip)\s+(?P<test>.+)$`,
		map[string]Status{"pass": Passed, "FAIL": Failed, "skip": Skipped}, "pass", "FAIL", "skip")}

	// minitestPatterns: "Class#test_name. = 0.01 s = .".
	minitestPatterns = patterns{line(`^(?P<test>.+)\. .*=.*(?P<word>\.|F|E).*$`,
		map[string]Status{".": Passed, "F": Failed, "E": Failed}, "=")}

	// reactPDFPatterns: jest's line of a whole file, "PASS path (5.2 s)".
	reactPDFPatterns = patterns{line(`^(?P<word>PASS|FAIL)\s(?P<test>.*?)(?:\s\([\d.]+\s?m?s\).*)?$`,
		map[string]Status{"PASS": Passed, "FAIL": Failed}, "PASS", "FAIL")}

	// rspecPatterns: rspec's JSON rewritten to "name - passed".
	rspecPatterns = patterns{line(`^(?P<test>.+) - (?P<word>passed|failed)`,
		map[string]Status{"passed": Passed, "failed": Failed}, " - passed", " - failed")}

	// sweSmithGoPatterns: SWE-smith's reading of go test -v. A line that begins with
	// FAIL makes a failed "test" of the package that it names.
	sweSmithGoPatterns = patterns{
		line(`^--- (?P<word>PASS|FAIL): (?P<test>\S+)`, map[string]Status{"PASS": Passed, "FAIL": Failed}, "--- "),
		always(Failed, `^FAIL:?\s?(?P<test>.+?)\s`, "FAIL"),
		always(Skipped, `^--- SKIP: (?P<test>\S+)`, "--- "),
	}

	// swiftPatterns: XCTest, "Test Case 'Suite.test' passed (0.1 seconds)".
	swiftPatterns = patterns{line(`^Test Case '(?P<test>[^']+)'\s+(?P<word>passed|failed)\s+\([0-9.]+\s+seconds\)$`,
		map[string]Status{"passed": Passed, "failed": Failed}, "Test Case ")}

	// testUnitPatterns: test-unit's verbose lines, "test: name:  .: (0.01)".
	testUnitPatterns = patterns{line(`^(?:test: )?(?P<test>.+):\s+(?P<word>\.|E\b|F\b|O\b)`,
		map[string]Status{".": Passed, "E": Failed, "F": Failed, "O": Skipped}, ":")}
)
