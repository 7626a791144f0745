package prove

import (
	"encoding/json"
	"strings"
)

// event is one line of "go test -json" that is about a package or a test; the fields
// of cmd/test2json that are used here. Verdicts are package testlog's matter.
type event struct {
	Action, Package, Test, Output string
}

// events calls visit with the events of an output and the length of their lines.
// Other lines are passed over.
func events(output string, visit func(e event, size int)) {
	for line := range strings.Lines(output) {
		var e event
		if strings.HasPrefix(line, `{`) && json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
			visit(e, len(line))
		}
	}
}

// function is the test function of a test or subtest.
func function(test string) string {
	name, _, _ := strings.Cut(test, "/")
	return name
}
