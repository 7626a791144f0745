package swerl

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// blocks is what Python's re finds in the texts that str.strip leaves.
const blocks = `
import json, re, sys
block = re.compile(r"` + "```" + `.*?\n### (.*)\n<<<<<<< SEARCH\n([\s\S]*?)\n=======\n([\s\S]*?)\n>>>>>>> REPLACE\n` + "```" + `")
json.dump([[list(m) for m in block.findall(s.strip())] for s in json.load(sys.stdin)], sys.stdout)
`

// TestAnswerIsPythons: the published reward reads edits with Python's re and str.strip.
// The texts are soups of the marks, so that most have some out of place. Without python3
// the test is skipped by name, or fails where everything is required.
func TestAnswerIsPythons(t *testing.T) {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("MILLRACE_REQUIRE_ALL") != "" {
			t.Fatalf("no python3 to compare with: %v", err)
		}
		t.Skipf("no python3 to compare with: %v", err)
	}
	marks := []string{"```", "\n", "\n", "### ", "a.py", "<<<<<<< SEARCH\n", "\n=======\n", "\n>>>>>>> REPLACE\n```", "=======\n",
		">>>>>>> REPLACE\n", "x", " ", "\r", "\x1c", "\u0085", "\u00a0", "\u200b", "\u2028", "é", "\v"}
	order := []string{"```py", "\n### ", "a.py", "\n<<<<<<< SEARCH\n", "x", "\n=======\n", "y", "\n>>>>>>> REPLACE\n```"}
	r := rand.New(rand.NewPCG(8, 8))
	texts := make([]string, 5000)
	for i := range texts {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			for _, mark := range order {
				if r.IntN(20) > 0 {
					b.WriteString(mark)
				}
				for r.IntN(5) == 0 {
					b.WriteString(marks[r.IntN(len(marks))])
				}
			}
		}
		texts[i] = b.String()
	}
	input, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(interpreter, "-c", blocks)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][][3]string
	if err := json.Unmarshal(output, &want); err != nil {
		t.Fatal(err)
	}
	read := 0
	for i, text := range texts {
		edits, err := Answer("<think>q</think><solution>" + text + "</solution>")
		got := make([][3]string, len(edits))
		for k, e := range edits {
			got[k] = [3]string{e.Path, e.Search, e.Replace}
		}
		if !slices.Equal(got, want[i]) || (err == nil) != (len(got) > 0) {
			t.Fatalf("%q: %q, %v, want %q", text, got, err, want[i])
		}
		read += min(1, len(got))
	}
	if read < len(texts)/4 {
		t.Errorf("only %d of %d texts hold an edit", read, len(texts))
	}
}
