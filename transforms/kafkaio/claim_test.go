package kafkaio

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestClaimTranscripts replays testdata/claim: protocol runs to be read.
func TestClaimTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/claim/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c *claim
			for i, line := range strings.Split(string(text), "\n") {
				if line == "" || strings.HasPrefix(line, "#") {
					continue
				}
				do, want, ok := strings.Cut(line, "->")
				if !ok {
					t.Fatalf("line %d: no ->", i+1)
				}
				var op string
				var offset int64
				if _, err := fmt.Sscan(do, &op, &offset); err != nil {
					t.Fatalf("line %d: %v", i+1, err)
				}
				switch op {
				case "start":
					c = newClaim(offset)
				case "begin":
					err = c.begin(offset)
				case "finish":
					err = c.finish(offset)
				case "skip":
					c.skip(offset)
				default:
					t.Fatalf("line %d: unknown operation %q", i+1, op)
				}
				got := fmt.Sprintf("position %d next %d lag %d", c.position(), c.next, c.lag())
				if err != nil {
					got, err = err.Error(), nil
				}
				if got != strings.TrimSpace(want) {
					t.Errorf("line %d: %s\n got %s\nwant %s", i+1, strings.TrimSpace(do), got, strings.TrimSpace(want))
				}
			}
		})
	}
}

// dumbClaim is the specification: a list of what was begun and what finished,
// searched from the start each time.
type dumbClaim struct {
	start, next     int64
	begun, finished []int64
}

func (d *dumbClaim) position() int64 {
	for _, offset := range d.begun {
		if !slices.Contains(d.finished, offset) {
			return offset
		}
	}
	return d.next
}

// TestClaimAgainstDumbTwin drives both with random begins, finishes (legal and
// not), gaps and skips, and compares after each operation.
func TestClaimAgainstDumbTwin(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		start := r.Int64N(1000)
		c, d := newClaim(start), &dumbClaim{start: start, next: start}
		for range 300 {
			previous := c.position()
			switch r.IntN(5) {
			case 0, 1:
				offset := d.next + max(0, r.Int64N(6)-3) - r.Int64N(2)*r.Int64N(2)
				legal := offset >= d.next
				if err := c.begin(offset); (err == nil) != legal {
					t.Fatalf("seed %d: begin %d (next %d): %v", seed, offset, d.next, err)
				}
				if legal {
					d.begun = append(d.begun, offset)
					d.next = offset + 1
				}
			case 2, 3:
				var offset int64
				if len(d.begun) > 0 && r.IntN(10) > 0 {
					offset = d.begun[r.IntN(len(d.begun))]
				} else {
					offset = start + r.Int64N(400)
				}
				legal := slices.Contains(d.begun, offset) && !slices.Contains(d.finished, offset)
				if err := c.finish(offset); (err == nil) != legal {
					t.Fatalf("seed %d: finish %d: legal %v, got %v", seed, offset, legal, err)
				}
				if legal {
					d.finished = append(d.finished, offset)
				}
			case 4:
				offset := d.next + r.Int64N(4) - 2
				c.skip(offset)
				d.next = max(d.next, offset)
			}
			if c.position() != d.position() || c.next != d.next {
				t.Fatalf("seed %d: position %d next %d, dumb twin has %d and %d", seed, c.position(), c.next, d.position(), d.next)
			}
			if c.position() < previous {
				t.Fatalf("seed %d: position went back from %d to %d", seed, previous, c.position())
			}
		}
	}
}

// TestClaimMemoryStaysWithTheWindow: a window that slides for ever must not
// keep what it has passed.
func TestClaimMemoryStaysWithTheWindow(t *testing.T) {
	c := newClaim(0)
	for offset := range int64(20_000) {
		if err := c.begin(offset); err != nil {
			t.Fatal(err)
		}
		if offset >= 64 {
			if err := c.finish(offset - 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cap(c.window) > 64*8 || len(c.finished) != 64 {
		t.Errorf("a window of 64 holds a slice of %d and a map of %d", cap(c.window), len(c.finished))
	}
}
