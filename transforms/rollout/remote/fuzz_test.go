package remote

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/kernels/tokenizer"
)

// answers are whole answers in the form of the servers' documentation.
func answers(f *testing.F, dialect string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "answers", dialect+"-*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

// fuzzed reads any bytes as an answer. What is taken for a completion has one finite
// log-probability in (floor, 0] and one version for each token, tokens within the
// vocabulary and not more than were asked for, and a stop id in the last place or
// nowhere.
func fuzzed(t *testing.T, d dialect, body []byte) {
	a, err := d.read(body)
	if err != nil {
		return
	}
	r := &request{prompt: []int32{1, 2, 3}, sampling: sampling, maxTokens: 5}
	c, err := a.complete(r, 4, 256)
	if err != nil {
		if len(err.Error()) > 4096 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		return
	}
	n := len(c.Tokens)
	if n < 1 || n > r.maxTokens || len(c.LogProbs) != n || len(c.Versions) != n {
		t.Fatalf("%+v", c)
	}
	for i, id := range c.Tokens {
		p := float64(c.LogProbs[i])
		if id < 0 || id >= 256 || math.IsNaN(p) || p > 0 || p < floor || c.Versions[i] != 4 {
			t.Errorf("token %d: %d %v %d", i, id, p, c.Versions[i])
		}
		if stop := slices.Contains(sampling.Stop, id); stop && i < n-1 || stop != c.Stopped && i == n-1 {
			t.Errorf("token %d is %d of %v, stopped %v", i, id, c.Tokens, c.Stopped)
		}
	}
	if a.prompt != nil && !slices.Equal(a.prompt, r.prompt) {
		t.Errorf("prompted with %v", a.prompt)
	}
}

func FuzzOpenAI(f *testing.F) {
	answers(f, OpenAI)
	f.Fuzz(func(t *testing.T, body []byte) { fuzzed(t, openAI{}, body) })
}

func FuzzSGLang(f *testing.F) {
	answers(f, SGLang)
	f.Fuzz(func(t *testing.T, body []byte) { fuzzed(t, sglang{}, body) })
}

// FuzzChat: text of any server becomes a completion that claims nothing, or an error.
func FuzzChat(f *testing.F) {
	answers(f, Chat)
	tok, marks := byteTokenizer(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := chat{tok}.read(body)
		if err != nil {
			return
		}
		r := &request{prompt: []int32{1}, sampling: sampling, maxTokens: 5}
		r.sampling.Stop = marks.Stop()
		c, err := a.evaluated(r, tok.EncodePlain)
		if err == nil && (len(c.Tokens) < 1 || len(c.Tokens) > 5 || slices.Max(c.Versions) != -1 || slices.Max(c.LogProbs) != 0) {
			t.Errorf("%+v", c)
		}
	})
}

// FuzzTakeApart: messages that were written as ChatML come back with the same bytes,
// and any ids are taken apart into messages that write them again, or refused.
func FuzzTakeApart(f *testing.F) {
	tok, marks := byteTokenizer(f)
	f.Add("user", "hello\nworld", []byte{1, 2})
	f.Add("system", "<|im_end|>\n", []byte("\xff\x00"))
	f.Add("", "", []byte(nil))
	f.Fuzz(func(t *testing.T, role, content string, noise []byte) {
		ids := append(marks.Render(tokenizer.Message{Role: role, Content: content}), marks.Open("assistant")...)
		text := string(tok.DecodeBytes(ids))
		got, err := takeApart(tok, ids)
		if plain := !strings.Contains(role, "\n") && strings.ToValidUTF8(role+content, "") == role+content; plain && err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && rewrite(got) != text {
			t.Errorf("%q became %q", text, rewrite(got))
		}
		var any []int32
		for _, b := range noise {
			any = append(any, int32(b)+3*int32(b&1)) // control tokens too
		}
		got, err = takeApart(tok, slices.Concat(any, marks.Open("assistant")))
		if err == nil && rewrite(got) != string(tok.DecodeBytes(any))+"<|im_start|>assistant\n" {
			t.Errorf("%v became %q", any, rewrite(got))
		}
	})
}

// rewrite is the ChatML of messages and an open assistant message, as text.
func rewrite(messages []message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString("<|im_start|>" + m.Role + "\n" + m.Content + "<|im_end|>\n")
	}
	return b.String() + "<|im_start|>assistant\n"
}

// TestDocumentedAnswers: the seeds of the fuzz targets are answers that are taken.
func TestDocumentedAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "answers", "*.json"))
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(filepath.Base(name), "-")
		r := &request{prompt: []int32{1, 2, 3}, sampling: sampling, maxTokens: 5}
		a, err := map[string]dialect{OpenAI: openAI{}, SGLang: sglang{}, Chat: chat{}}[kind].read(text)
		if err != nil {
			t.Error(name, err)
			continue
		}
		switch c, err := a.complete(r, 4, 256); {
		case kind == Chat:
			if err == nil {
				t.Errorf("%s is taken for training", name)
			}
		case strings.Contains(name, "abort"):
			if !errors.Is(err, errAborted) {
				t.Error(name, err)
			}
		case err != nil:
			t.Error(name, err)
		case !slices.Equal(c.Tokens, []int32{40, 41, 200}) || !slices.Equal(c.LogProbs, []float32{-0.25, 0, -2}) || !c.Stopped:
			t.Errorf("%s: %+v", name, c)
		}
	}
}
