package remote

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/kernels"
	"millrace/kernels/tokenizer"
	"millrace/schemas"
)

// byteTokenizer has one token a byte and ChatML's three control tokens.
func byteTokenizer(t testing.TB) (*tokenizer.Tokenizer, *tokenizer.Chat) {
	t.Helper()
	control := []string{tokenizer.EndOfText, tokenizer.MessageStart, tokenizer.MessageEnd}
	tok, err := tokenizer.Train(func(func(string) bool) {}, 256+len(control), control)
	if err != nil {
		t.Fatal(err)
	}
	chat, err := tokenizer.NewChat(tok)
	if err != nil {
		t.Fatal(err)
	}
	return tok, chat
}

func forEvaluation(t testing.TB, f *fake, dialect string) (*Policy, *tokenizer.Tokenizer, *tokenizer.Chat) {
	t.Helper()
	tok, chat := byteTokenizer(t)
	cfg := config(f)
	cfg.Evaluation, cfg.Tokenizer, cfg.Dialect = true, tok, dialect
	return open(t, cfg, ""), tok, chat
}

// untrainable checks that a completion claims nothing that a policy version sampled,
// and that the contract of a trajectory refuses to train on it.
func untrainable(t *testing.T, c kernels.Completion) {
	t.Helper()
	for i := range c.Tokens {
		if c.LogProbs[i] != 0 || c.Versions[i] != -1 {
			t.Errorf("token %d has log-probability %v and version %d", i, c.LogProbs[i], c.Versions[i])
		}
	}
	n := len(c.Tokens)
	record := schemas.Trajectory{
		ID: "t", GroupID: "g", Task: schemas.Task{ID: "task"}, Termination: schemas.Finished,
		Tokens:   append([]int32{1}, c.Tokens...),
		LossMask: append([]bool{false}, slices.Repeat([]bool{true}, n)...),
		LogProbs: append([]float32{0}, c.LogProbs...), Versions: append([]int32{-1}, c.Versions...),
	}
	wantError(t, record.Validate(), "Versions[1]", "is -1 at a sampled token")
}

// TestEvaluation: a server without ids and log-probabilities serves evaluation, and
// what it says cannot be trained on. Its weights are left alone.
func TestEvaluation(t *testing.T) {
	f := newFake(t, OpenAI)
	f.stopAfter = 1
	bare := func(v map[string]any) {
		choice := v["choices"].([]any)[0].(map[string]any)
		choice["text"], choice["logprobs"], choice["token_ids"], choice["prompt_token_ids"] = "hé", nil, nil, nil
		v["usage"] = nil
	}
	p, tok, chat := forEvaluation(t, f, Detect)
	s := sampling
	s.Stop, s.MaxTokens = chat.Stop(), 10
	for _, c := range []struct {
		name  string
		spoil func(map[string]any)
		limit int
		want  []int32
		stop  bool
	}{
		{"ids", nil, 10, []int32{chat.End()}, true},
		{"text", bare, 10, append(tok.EncodePlain("hé"), chat.End()), true},
		{"text to the limit", bare, 4, append(tok.EncodePlain("hé"), chat.End()), true},
		{"text beyond the limit", bare, 2, tok.EncodePlain("hé")[:2], false},
	} {
		f.set(func(f *fake) { f.spoil = c.spoil })
		s.MaxTokens = c.limit
		got, err := begin(t, p).Generate(t.Context(), []int32{1}, s)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if !slices.Equal(got.Tokens, c.want) || got.Stopped != c.stop {
			t.Errorf("%s: %v, stopped %v; want %v, %v", c.name, got.Tokens, got.Stopped, c.want, c.stop)
		}
		untrainable(t, got)
	}
	if p.Version() != 0 {
		t.Errorf("version %d", p.Version())
	}
	wantError(t, p.Publish(t.Context(), 1, "w"), "left alone")
	if f.called("POST /pause") != 0 {
		t.Error("the server was paused")
	}
}

// TestChat: a conversation reaches a server that has only chat as messages of the
// same bytes.
func TestChat(t *testing.T) {
	f := newFake(t, Chat)
	p, tok, chat := forEvaluation(t, f, Chat)
	s := begin(t, p)
	settings := kernels.Sampling{Temperature: 1, MaxTokens: 200, Stop: chat.Stop()}
	prompt := append(chat.Render(tokenizer.Message{Role: "system", Content: "be\nbrief "}, tokenizer.Message{Role: "user", Content: "<|im_end|>?"}), chat.Open("assistant")...)
	first, err := s.Generate(t.Context(), prompt, settings)
	if err != nil {
		t.Fatal(err)
	}
	untrainable(t, first)
	const heard = "system:be\nbrief ;user:<|im_end|>?;"
	if got := tok.Decode(first.Tokens[:len(first.Tokens)-1]); got != heard || !first.Stopped {
		t.Errorf("the server heard %q, want %q", got, heard)
	}
	next := append(append(chat.Close(true), chat.Render(tokenizer.Message{Role: "user", Content: "on"})...), chat.Open("assistant")...)
	second, err := s.Generate(t.Context(), next, settings)
	if err != nil {
		t.Fatal(err)
	}
	want := heard + "assistant:" + heard + ";user:on;"
	if got := tok.Decode(second.Tokens[:len(second.Tokens)-1]); got != want {
		t.Errorf("the server heard %q, want %q", got, want)
	}
	settings.TopK = 3
	_, err = s.Generate(t.Context(), next, settings)
	wantError(t, err, "the chat API has no such setting")
}

// TestTakeApartRefuses: what is not ChatML as we write it is not turned into
// something like it.
func TestTakeApartRefuses(t *testing.T) {
	tok, chat := byteTokenizer(t)
	user := chat.Render(tokenizer.Message{Role: "user", Content: "x"})
	open := chat.Open("assistant")
	for want, ids := range map[string][]int32{
		"token 0 does not start a message":           tok.EncodePlain("text"),
		"token 5 does not start a message":           slices.Concat(tok.Encode("<|im_start|>u\n"), []int32{chat.End()}, tok.EncodePlain("\n"), open),
		"message 0 holds the control token":          slices.Concat(tok.Encode("<|im_start|>user\na<|endoftext|>b"), open),
		"message 0 has no role":                      slices.Concat(tok.Encode("<|im_start|>user<|im_end|>\n"), open),
		"message 0 has no role, or is not UTF-8":     slices.Concat(tok.Encode("<|im_start|>user\n\xff<|im_end|>\n"), open),
		"message 0 does not end its line":            slices.Concat(tok.Encode("<|im_start|>user\nx<|im_end|> "), open),
		`the last message begins "assistant\nbegun"`: slices.Concat(user, open, tok.EncodePlain("begun")),
		fmt.Sprintf("token %d does not", len(user)):  user,
	} {
		if strings.HasPrefix(want, "token 5") { // an empty message is one; what follows is not
			ids = append(slices.Clone(ids[:5]), 'x')
		}
		_, err := takeApart(tok, ids)
		wantError(t, err, want)
	}
}

func TestEvaluationNeedsTheTokenizer(t *testing.T) {
	cfg := config(newFake(t, OpenAI))
	cfg.Evaluation = true
	_, err := Open(t.Context(), cfg)
	wantError(t, err, "needs the policy's tokenizer")
}
