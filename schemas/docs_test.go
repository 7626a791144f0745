package schemas

import (
	"os"
	"strings"
	"testing"
)

// TestDocsDrawTheFrame keeps the drawing in docs/formats.md in step with the one
// beside the code.
func TestDocsDrawTheFrame(t *testing.T) {
	code, err := os.ReadFile("frame.go")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for line := range strings.Lines(string(code)) {
		drawing, ok := strings.CutPrefix(line, "//\t")
		if !ok {
			continue
		}
		drawn++
		if !strings.Contains(string(docs), drawing) {
			t.Errorf("docs/formats.md lacks the line %q", drawing)
		}
	}
	if drawn < 10 {
		t.Errorf("only %d lines are drawn in frame.go", drawn)
	}
}
