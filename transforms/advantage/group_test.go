package advantage

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// TestTranscripts runs the commands in testdata/group and compares what the
// group answers. A line is a command, an arrow, the answer and the state:
//
//	add ROLLOUT DIGEST SIZE -> verdict | state, rollouts that joined, size
//	close                   -> true or false | ...
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/group/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(text) && !*update {
				t.Errorf("transcript differs:\n%s\nwant:\n%s", got, text)
			}
		})
	}
}

// replay answers the commands of a transcript; comments and empty lines stay.
func replay(t *testing.T, text string) string {
	t.Helper()
	var g Group
	var out strings.Builder
	for line := range strings.Lines(text) {
		command, _, _ := strings.Cut(strings.TrimSpace(line), "->")
		command = strings.TrimSpace(command)
		var answer string
		var e Entry
		var size int32
		switch {
		case command == "" || command[0] == '#':
			out.WriteString(line)
			continue
		case command == "close":
			answer = fmt.Sprint(g.Close())
		default:
			if _, err := fmt.Sscanf(command, "add %d %d %d", &e.Rollout, &e.Digest, &size); err != nil {
				t.Fatalf("command %q: %v", command, err)
			}
			answer = g.Add(e, size).String()
		}
		state := "open"
		if g.Closed {
			state = "closed"
		}
		var rollouts []int32
		for _, e := range g.Entries {
			rollouts = append(rollouts, e.Rollout)
		}
		fmt.Fprintf(&out, "%-10s -> %-9s | %s %v of %d\n", command, answer, state, rollouts, g.Size)
	}
	return out.String()
}

// TestGroupInvariants throws random members at a group: rollouts stay distinct
// and in range, a complete group is closed, nothing joins after the close, and
// at most one verdict says Completed.
func TestGroupInvariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var g Group
		completed := 0
		for range 40 {
			before := g
			if rng.IntN(20) == 0 {
				g.Close()
			}
			v := g.Add(Entry{Rollout: int32(rng.IntN(7)) - 1, Digest: rng.Uint64N(2)}, int32(rng.IntN(20)/19+5))
			if v == Completed {
				completed++
			}
			seen := map[int32]bool{}
			for _, e := range g.Entries {
				if seen[e.Rollout] || e.Rollout < 0 || e.Rollout >= g.Size {
					t.Fatalf("entries %v of %d", g.Entries, g.Size)
				}
				seen[e.Rollout] = true
			}
			if len(g.Entries) > 0 && len(g.Entries) == int(g.Size) && !g.Closed {
				t.Fatalf("complete and open: %+v", g)
			}
			if before.Closed && len(g.Entries) != len(before.Entries) {
				t.Fatalf("joined after the close: %+v to %+v", before, g)
			}
			joined := len(g.Entries) - len(before.Entries)
			if (v == Joined || v == Completed) != (joined == 1) {
				t.Fatalf("verdict %v, %d joined", v, joined)
			}
		}
		if completed > 1 {
			t.Fatalf("completed %d times", completed)
		}
	}
}
