package warmstart

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"millrace/kernels"
	"millrace/kernels/cpu"
	"millrace/kernels/tokenizer"
)

func markupTokenizer(t *testing.T) (*tokenizer.Tokenizer, *tokenizer.Chat) {
	t.Helper()
	added := append(slices.Clone(control), markup...)
	tok, err := tokenizer.Train(none, 256+len(added), added)
	if err != nil {
		t.Fatal(err)
	}
	chat, err := tokenizer.NewChat(tok)
	if err != nil {
		t.Fatal(err)
	}
	return tok, chat
}

// TestSequence: trained is what the expert wrote and the <|im_end|> that closes
// each of its turns, and nothing else; markup is one token.
func TestSequence(t *testing.T) {
	tok, chat := markupTokenizer(t)
	d := demo()
	q := Sequence(tok, chat, d, false)
	var whole, trained strings.Builder
	for i, m := range d.Messages {
		whole.WriteString("<|im_start|>" + m.Role + "\n" + m.Content + "<|im_end|>")
		if m.Role == "assistant" {
			trained.WriteString(m.Content + "<|im_end|>")
		}
		if m.Role != "assistant" || i < len(d.Messages)-1 {
			whole.WriteString("\n")
		}
	}
	var masked []int32
	for i, id := range q.Tokens {
		if q.Mask[i] {
			masked = append(masked, id)
		}
	}
	if diff := cmp.Diff(whole.String(), tok.Decode(q.Tokens)); diff != "" {
		t.Errorf("conversation (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(trained.String(), tok.Decode(masked)); diff != "" {
		t.Errorf("trained (-want +got):\n%s", diff)
	}
	if len(q.Mask) != len(q.Tokens) || q.Mask[0] || q.Advantage != 1 || q.LogProbs != nil {
		t.Errorf("sequence of %d tokens, mask of %d, first %v, advantage %v", len(q.Tokens), len(q.Mask), q.Mask[0], q.Advantage)
	}
	if id, _ := tok.TokenID(markup[0]); !slices.Contains(masked, id) {
		t.Errorf("%q is not one token", markup[0])
	}
}

func settings(renamed float64, context int, seed uint64) Config {
	return Config{Renamed: renamed, Seed: seed, Context: context}
}

// TestReading: drills come first, as many as Reading tokens take, and everything
// but their first token is trained; they are cut at half the context.
func TestReading(t *testing.T) {
	tok, chat := markupTokenizer(t)
	length := len(Sequence(tok, chat, demo(), false).Tokens)
	drill := demo()
	drill.TaskID = "drill"
	c := settings(0, length, 1)
	half := length / 2
	c.Reading = int64(half) + 1 // the second drill begins at half, a third would at 2*half
	n := 0
	for q := range Stream(tok, chat, Recording{Demonstrations: []Demonstration{demo()}, Drills: []Demonstration{drill}}, c) {
		whole := !slices.Contains(q.Mask[1:], false)
		if q.Mask[0] || whole != (n < 2) || (q.ID == "drill") != (n < 2) || len(q.Tokens) != map[bool]int{true: half, false: length}[n < 2] || len(q.Mask) != len(q.Tokens) {
			t.Errorf("sequence %d of %s: %d tokens, first trained %v, all others %v", n, q.ID, len(q.Tokens), q.Mask[0], whole)
		}
		if n++; n == 4 {
			break
		}
	}
}

func TestStream(t *testing.T) {
	tok, chat := markupTokenizer(t)
	long, brief := demo(), demo()
	long.TaskID, brief.TaskID = "long", "brief"
	brief.Messages = brief.Messages[:3]
	both := []Demonstration{long, brief}
	context := len(Sequence(tok, chat, brief, false).Tokens)
	take := func(demonstrations []Demonstration, renamed float64, context int, seed uint64) (out []kernels.Sequence) {
		for q := range Stream(tok, chat, Recording{Demonstrations: demonstrations}, settings(renamed, context, seed)) {
			if out = append(out, q); len(out) == 20 {
				break
			}
		}
		return out
	}
	got := take(both, 0, context, 1)
	if len(got) != 20 {
		t.Errorf("%d sequences, want no end", len(got))
	}
	for _, q := range got {
		if q.ID != "brief" {
			t.Errorf("%s has %d tokens, the context is %d", q.ID, len(q.Tokens), context)
		}
	}
	if got := take(both, 0, context-1, 1); got != nil {
		t.Errorf("all are too long, but %d came", len(got))
	}
	if got := take(nil, 0, context, 1); got != nil {
		t.Errorf("%d sequences of no demonstration", len(got))
	}
	first := take(both, 0.5, 1<<20, 1)
	if diff := cmp.Diff(first, take(both, 0.5, 1<<20, 1)); diff != "" {
		t.Errorf("the same seed gives another stream:\n%s", diff)
	}
	if cmp.Diff(first, take(both, 0.5, 1<<20, 2)) == "" {
		t.Error("another seed gives the same stream")
	}
	plain := 0
	for i := 0; i < len(first); i += 2 { // each round has each once
		if first[i].ID == first[i+1].ID {
			t.Errorf("round %d has %s twice", i/2, first[i].ID)
		}
	}
	for _, q := range first {
		if strings.Contains(tok.Decode(q.Tokens), "Tally") {
			plain++
		}
	}
	if plain == 0 || plain == len(first) {
		t.Errorf("%d of %d keep their names, want about half", plain, len(first))
	}
}

// TestRate: linear from almost nothing to the peak, then a cosine to a tenth.
func TestRate(t *testing.T) {
	s := Schedule{LearningRate: 1, Warmup: 0.2}
	for _, c := range []struct{ done, want float64 }{
		{0, 0.001 / 0.201},
		{0.1, 0.101 / 0.201},
		{0.2, 1},
		{0.4, 0.1 + 0.9*(1+math.Sqrt2/2)/2}, // a quarter of the way: cos(pi/4)
		{0.6, 0.55},                         // half: cos(pi/2) = 0
		{1, 0.1},
	} {
		if got := s.rate(c.done); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("rate(%v) = %v, want %v", c.done, got, c.want)
		}
	}
}

// TestSupervise teaches a tiny model one demonstration.
func TestSupervise(t *testing.T) {
	tok, chat := markupTokenizer(t)
	d := demo()
	d.Messages = d.Messages[1:3]
	length := len(Sequence(tok, chat, d, false).Tokens)
	trainer := tinyTrainer(t, tok.VocabSize())
	const steps = 12
	s := Schedule{Tokens: int64(steps * 3 * length), BatchTokens: 3 * length, MicroTokens: 2 * length, LearningRate: 0.02,
		Optimizer: kernels.AdamW{Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8, ClipNorm: 1}}
	var seen []Progress
	err := Supervise(t.Context(), trainer, Stream(tok, chat, Recording{Demonstrations: []Demonstration{d}}, settings(0, 1<<20, 1)), s, func(p Progress) { seen = append(seen, p) })
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != steps {
		t.Fatalf("%d steps, want %d: the tokens of the schedule", len(seen), steps)
	}
	for i, p := range seen {
		if p.Step != int64(i+1) || p.Tokens != int64((i+1)*3*length) || p.LearningRate != s.rate(float64(i+1)/steps) {
			t.Errorf("step %d: %+v", i+1, p)
		}
	}
	// An untrained model is about uniform: log(272) = 5.6 nats.
	if first, last := seen[0].Loss, seen[steps-1].Loss; math.Abs(first-math.Log(float64(tok.VocabSize()))) > 0.5 || last > first-1 {
		t.Errorf("mean loss went from %v to %v nats", first, last)
	}
}

func TestSuperviseEnds(t *testing.T) {
	tok, chat := markupTokenizer(t)
	q := Sequence(tok, chat, demo(), false)
	s := Schedule{Tokens: 1 << 40, BatchTokens: 2 * len(q.Tokens), MicroTokens: len(q.Tokens), LearningRate: 1e-3,
		Optimizer: kernels.AdamW{Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-8}}
	trainer := tinyTrainer(t, tok.VocabSize())
	steps := 0
	count := func(Progress) { steps++ }
	three := slices.Values([]kernels.Sequence{q, q, q})
	if err := Supervise(t.Context(), trainer, three, s, count); err != nil || steps != 1 {
		t.Errorf("three sequences in batches of two: %d steps, %v; want 1", steps, err)
	}
	if err := Supervise(t.Context(), trainer, slices.Values([]kernels.Sequence{q}), s, count); err == nil || steps != 1 {
		t.Errorf("less than one batch: %d steps, %v; want an error", steps-1, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Supervise(ctx, trainer, three, s, count); err == nil || steps != 1 {
		t.Errorf("ctx has ended: %d steps, %v; want an error", steps-1, err)
	}
}

func tinyTrainer(t *testing.T, vocab int) kernels.Trainer {
	t.Helper()
	cfg := kernels.Config{VocabSize: vocab, HiddenSize: 16, IntermediateSize: 32, NumHiddenLayers: 1, NumAttentionHeads: 2,
		NumKeyValueHeads: 1, HeadDim: 8, MaxPositionEmbeddings: 2048, RMSNormEps: 1e-6, RopeTheta: 10_000, TieWordEmbeddings: true}
	weights, err := cpu.InitWeights(cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := cpu.NewTrainer(cfg, weights)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trainer.Close() })
	return trainer
}

// TestPieces: operators and line breaks are pieces of their own, fixed tokens
// none.
func TestPieces(t *testing.T) {
	for text, want := range map[string][]string{
		"if a-b <= c[i]+1 {\n\ti++":      {"if a", "-", "b", " <=", " c[i]", "+", "1 {", "\n", "\ti", "++"},
		"if a <\n":                       {"if a", " <", "\n"},
		"<function=finish>\n</function>": nil,
		"5\na < b\n" + markup[0] + "view" + markup[4] + "a.go": {"5", "\n", "a", " <", " b", "\n", "view", "a.go"},
		listOperators + "code.go":                              {"code.go"},
	} {
		var got []string
		pieces(text, func(s string) bool {
			got = append(got, s)
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pieces of %q (-want +got):\n%s", text, diff)
		}
	}
}
