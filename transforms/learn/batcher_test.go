package learn

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/schemas"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the transcripts in testdata")

// TestTranscripts plays testdata/batcher/*.txt. A line that begins with ">" is a
// command, the lines behind it are its answer:
//
//	> groups N staleness N [draws N]
//	> add ID group=G iteration=N members=N [weighing=N] [version=N] [newest=N] [weight=0] [reward=X] [unusable=WORD] at=OFFSET
//	> lose GROUP at=OFFSET
//	> next      makes the batch and, as the learner would, enters it in the ledger
//	> positions
//	> replaced  what the feed has to order in place of groups in which nothing weighs
//
// Review a change of the answers as you would a change of code:
// go test ./transforms/learn -run Transcripts -rewrite.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/batcher/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			p := &player{t: t}
			for line := range strings.Lines(string(want)) {
				switch {
				case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
					got.WriteString(line)
				case strings.HasPrefix(line, "> "):
					got.WriteString(line)
					got.WriteString(p.play(strings.Fields(line)[1:]))
				}
			}
			if *rewrite {
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got.String() != string(want) {
				t.Errorf("the transcript differs; got\n%s", got.String())
			}
		})
	}
}

type player struct {
	t       *testing.T
	batcher *Batcher
	offsets offsets
}

func (p *player) play(words []string) string {
	p.t.Helper()
	args := map[string]int{}
	text := map[string]string{}
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok {
			text[k] = v
			n := 0
			fmt.Sscan(v, &n)
			args[k] = n
		}
	}
	source := schemas.Position{Topic: "samples", Offset: int64(args["at"])}
	switch words[0] {
	case "groups":
		var groups, bound int
		if _, err := fmt.Sscan(words[1]+" "+words[3], &groups, &bound); err != nil {
			p.t.Fatal(err)
		}
		draws := 1
		if len(words) > 4 {
			if _, err := fmt.Sscan(words[5], &draws); err != nil {
				p.t.Fatal(err)
			}
		}
		p.batcher = newBatcher(groups, int64(bound), draws, newLedger())
		p.offsets = offsets{}
		return ""
	case "add":
		s := testSample(words[1], text["group"], int64(args["iteration"]), int32(args["members"]), int32(args["version"]))
		s.Reward = float64(args["reward"])
		if _, ok := text["weighing"]; ok {
			s.GroupWeighing = int32(args["weighing"])
		}
		if text["weight"] == "0" {
			s.Weight, s.Excluded, s.Termination = 0, "steps", schemas.StepLimit
		}
		p.offsets.read(source)
		kept, drops := p.batcher.Add(s, source, text["unusable"], max(newestOf(&s), int64(args["newest"])))
		if kept {
			p.offsets.hold(source)
		}
		for _, d := range drops {
			p.offsets.release(d.Source)
		}
		if !kept && len(drops) == 0 {
			return "repeated\n"
		}
		return told(drops)
	case "lose":
		p.offsets.read(source)
		if !p.batcher.Lose(words[1], source) {
			return "group is consumed\n"
		}
		p.offsets.hold(source)
		return ""
	case "next":
		batch, ok := p.batcher.Next()
		if !ok {
			return "not ready\n"
		}
		for _, source := range batch.sources {
			p.offsets.release(source)
		}
		var ids, dropped []string
		for _, s := range batch.Samples {
			ids = append(ids, s.ID)
		}
		for _, d := range batch.Dropped {
			dropped = append(dropped, d.Sample.ID)
		}
		u := schemas.Update{Step: batch.Version + 1, SampleIDs: ids, DroppedIDs: dropped, GroupIDs: batch.GroupIDs}
		if err := u.Validate(); err != nil {
			p.t.Error(err)
		}
		if err := p.batcher.ledger.add(u); err != nil {
			p.t.Error(err)
		}
		return fmt.Sprintf("step %d: %s\n", u.Step, strings.Join(ids, " ")) + told(batch.Dropped) + told(batch.Expired)
	case "replaced":
		return fmt.Sprintln(p.batcher.Replaced())
	case "positions":
		return fmt.Sprintln(p.offsets.positions())
	}
	p.t.Fatalf("unknown command %q", words)
	return ""
}

func told(drops []Drop) string {
	var b strings.Builder
	for _, d := range drops {
		fmt.Fprintf(&b, "dead letter %s: %s, %s\n", d.Sample.ID, d.Reason, d.Message)
	}
	return b.String()
}

// testSample is a sample of four tokens, of which two were sampled.
func testSample(id, group string, iteration int64, members, version int32) schemas.Sample {
	return schemas.Sample{
		ID: id, GroupID: group, TaskID: "task", Run: "run", Iteration: iteration,
		Tokens: []int32{1, 2, 3, 4}, LossMask: []bool{false, false, true, true},
		LogProbs: []float32{0, 0, -1, -2}, Versions: []int32{-1, -1, version, version},
		Advantage: 1, Weight: 1, Termination: schemas.Finished,
		GroupMembers: members, GroupWeighing: members, GroupSize: members + 1,
	}
}

// TestArrivalOrderDoesNotShow: with staleness 0, any order of the samples of two
// iterations gives the same two batches.
func TestArrivalOrderDoesNotShow(t *testing.T) {
	var all []schemas.Sample
	for iteration := range int64(2) {
		for _, g := range []string{"a", "b"} {
			for _, r := range []string{"0", "1", "2"} {
				group := fmt.Sprintf("%s%d", g, iteration)
				all = append(all, testSample(group+r, group, iteration, 3, int32(iteration)))
			}
		}
	}
	for shift := range all {
		order := append(slices.Clone(all[shift:]), all[:shift]...)
		if shift%2 == 1 {
			slices.Reverse(order)
		}
		b := newBatcher(2, 0, 1, newLedger())
		var batches []string
		for i, s := range order {
			b.Add(s, schemas.Position{Topic: "samples", Offset: int64(i)}, "", 0)
			for {
				batch, ok := b.Next()
				if !ok {
					break
				}
				var ids []string
				for _, s := range batch.Samples {
					ids = append(ids, s.ID)
				}
				batches = append(batches, strings.Join(ids, " "))
				if err := b.ledger.add(schemas.Update{Step: batch.Version + 1, SampleIDs: ids, GroupIDs: batch.GroupIDs}); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := []string{"a00 a01 a02 b00 b01 b02", "a10 a11 a12 b10 b11 b12"}
		if !slices.Equal(batches, want) {
			t.Errorf("order %d gave %q", shift, batches)
		}
	}
}
