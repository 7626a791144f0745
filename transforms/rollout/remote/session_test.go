package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/kernels"
)

var sampling = kernels.Sampling{Temperature: 1, MaxTokens: 5, Stop: []int32{200, 201}, Seed: 7}

var dialects = []string{OpenAI, SGLang}

// TestTokenInTokenOut (invariant 3): every turn sends the ids of the whole
// sequence, and what the server sampled is stored as it was.
func TestTokenInTokenOut(t *testing.T) {
	for _, dialect := range dialects {
		t.Run(dialect, func(t *testing.T) {
			f := newFake(t, dialect)
			p := open(t, config(f), "/checkpoints/step-0")
			s := begin(t, p)
			var sequence []int32
			var sent [][]int32
			for turn, prompt := range [][]int32{{1, 2, 3}, {4}, {5, 6}} {
				f.set(func(f *fake) { f.stopAfter = turn }) // 0 runs to MaxTokens
				c, err := s.Generate(t.Context(), prompt, sampling)
				if err != nil {
					t.Fatal(err)
				}
				sequence = append(sequence, prompt...)
				sent = append(sent, slices.Clone(sequence))
				n := sampling.MaxTokens
				if turn > 0 {
					n = turn
				}
				if len(c.Tokens) != n || c.Stopped != (turn > 0) || len(c.Versions) != n {
					t.Fatalf("turn %d: %+v", turn, c)
				}
				for i := range c.Tokens {
					token, logProb := drawn("/checkpoints/step-0", len(sequence)+i)
					if c.Stopped && i == n-1 {
						token = sampling.Stop[0]
					}
					if c.Tokens[i] != token || c.LogProbs[i] != float32(logProb) || c.Versions[i] != 0 {
						t.Errorf("turn %d token %d: %d %v version %d, want %d %v 0", turn, i, c.Tokens[i], c.LogProbs[i], c.Versions[i], token, logProb)
					}
				}
				sequence = append(sequence, c.Tokens...)
				if s.Len() != len(sequence) {
					t.Errorf("turn %d: length %d, want %d", turn, s.Len(), len(sequence))
				}
			}
			if got := f.prompts(); fmt.Sprint(got) != fmt.Sprint(sent) {
				t.Errorf("sent %v, want %v", got, sent)
			}
			seeds := map[int64]bool{}
			for _, a := range f.asked {
				seeds[a.seed] = true
				if a.temperature != 1 || !slices.Equal(a.stop, sampling.Stop) {
					t.Errorf("asked for %+v", a)
				}
				if !strings.HasPrefix(a.header.Get("X-Request-Id"), a.header.Get("X-Session-Id")+"-") {
					t.Errorf("request %q of session %q", a.header.Get("X-Request-Id"), a.header.Get("X-Session-Id"))
				}
			}
			if len(seeds) != 3 {
				t.Errorf("%d seeds for 3 turns", len(seeds))
			}
		})
	}
}

// TestRefusesAnswers: an answer that must not be trained on ends the call with an
// error that names server and request, and the session with it.
func TestRefusesAnswers(t *testing.T) {
	choice := func(v map[string]any) map[string]any { return v["choices"].([]any)[0].(map[string]any) }
	logProbs := func(v map[string]any) map[string]any { return choice(v)["logprobs"].(map[string]any) }
	meta := func(v map[string]any) map[string]any { return v["meta_info"].(map[string]any) }
	for _, c := range []struct {
		dialect string
		name    string
		spoil   func(map[string]any)
		want    string
	}{
		{OpenAI, "no ids", func(v map[string]any) { choice(v)["token_ids"] = nil; logProbs(v)["tokens"] = []string{"a"} }, "--return-tokens-as-token-ids"},
		{OpenAI, "no log-probabilities", func(v map[string]any) { choice(v)["logprobs"] = nil }, "has no log-probabilities"},
		{OpenAI, "one too few", func(v map[string]any) { logProbs(v)["token_logprobs"] = []float64{-1, -1, -1, -1} }, "5 tokens and 4 log-probabilities"},
		{OpenAI, "null", func(v map[string]any) { logProbs(v)["token_logprobs"] = []any{-1, -1, nil, -1, -1} }, "sampled token 2 is null"},
		{OpenAI, "positive", func(v map[string]any) { logProbs(v)["token_logprobs"] = []float64{-1, .5, -1, -1, -1} }, "sampled token 1 is 0.5"},
		{OpenAI, "minus infinity", func(v map[string]any) { logProbs(v)["token_logprobs"] = []float64{-1, -9999, -1, -1, -1} }, "sampled token 1 is -9999"},
		{OpenAI, "other names", func(v map[string]any) {
			logProbs(v)["tokens"] = []string{"token_id:1", "token_id:1", "token_id:1", "token_id:1", "token_id:1"}
		}, "name different tokens"},
		{OpenAI, "another prompt", func(v map[string]any) { choice(v)["prompt_token_ids"] = []int{1, 2} }, "prompted with 2 tokens that are not the 3 sent"},
		{OpenAI, "prompt count", func(v map[string]any) { v["usage"].(map[string]any)["prompt_tokens"] = 9 }, "counts 9 prompt tokens, 3 were sent"},
		{OpenAI, "stopped without", func(v map[string]any) { choice(v)["finish_reason"] = "stop" }, "is not a stop id"},
		{OpenAI, "unknown reason", func(v map[string]any) { choice(v)["finish_reason"] = "content_filter" }, `finish reason is "content_filter"`},
		{OpenAI, "no choices", func(v map[string]any) { v["choices"] = []any{} }, "0 choices"},
		{OpenAI, "too long", func(v map[string]any) { choice(v)["text"] = strings.Repeat("x", 1<<20) }, "longer than"},
		{OpenAI, "outside of the vocabulary", func(v map[string]any) {
			choice(v)["token_ids"] = []int{1, 2, 3, 4, 300}
			logProbs(v)["tokens"] = nil
		}, "sampled token 4 is 300"},
		{OpenAI, "goes on after a stop", func(v map[string]any) {
			choice(v)["token_ids"] = []int{1, 200, 3, 4, 5}
			logProbs(v)["tokens"] = nil
		}, "3 follow it"},
		{SGLang, "no log-probabilities", func(v map[string]any) { delete(meta(v), "output_token_logprobs") }, "has no log-probabilities"},
		{SGLang, "null", func(v map[string]any) {
			meta(v)["output_token_logprobs"] = [][]any{{nil, 1, nil}}
			v["output_ids"] = []int{1}
			meta(v)["completion_tokens"] = 1
		}, "sampled token 0 is null"},
		{SGLang, "not a triple", func(v map[string]any) { meta(v)["output_token_logprobs"] = []any{3} }, "output_token_logprobs[0] is 3"},
		{SGLang, "other ids", func(v map[string]any) { v["output_ids"] = []int{1} }, "name different tokens"},
		{SGLang, "NaN", func(v map[string]any) {
			meta(v)["finish_reason"] = map[string]any{"type": "stop", "matched": "NaN happened"}
		}, "NaN happened"},
		{SGLang, "short", func(v map[string]any) {
			meta(v)["finish_reason"] = map[string]any{"type": "length", "length": 5}
			meta(v)["output_token_logprobs"] = [][]any{{-1, 1, nil}}
			v["output_ids"] = nil
			meta(v)["completion_tokens"] = 1
		}, "length after 1 tokens, 5 were asked for"},
	} {
		t.Run(c.dialect+" "+c.name, func(t *testing.T) {
			f := newFake(t, c.dialect)
			cfg := config(f)
			cfg.Vocabulary = 256
			p := open(t, cfg, "w")
			f.set(func(f *fake) { f.spoil = c.spoil })
			s := begin(t, p)
			_, err := s.Generate(t.Context(), []int32{1, 2, 3}, sampling)
			wantError(t, err, c.want, f.server.URL, "request millrace-")
			if n := len(f.prompts()); n != 1 {
				t.Errorf("asked %d times", n)
			}
			f.set(func(f *fake) { f.spoil = nil })
			_, err = s.Generate(t.Context(), []int32{4}, sampling)
			wantError(t, err, "session failed before")
		})
	}
}

// TestOldTokenNames: vLLM before 0.10.2 names ids among the log-probabilities alone.
func TestOldTokenNames(t *testing.T) {
	f := newFake(t, OpenAI)
	f.spoil = func(v map[string]any) {
		delete(v["choices"].([]any)[0].(map[string]any), "token_ids")
		delete(v["choices"].([]any)[0].(map[string]any), "prompt_token_ids")
	}
	c, err := begin(t, open(t, config(f), "w")).Generate(t.Context(), []int32{1}, sampling)
	if err != nil {
		t.Fatal(err)
	}
	sampledBy(t, "w", 1, c.Tokens)
}

// TestRetries: what may pass is tried again, what cannot is not.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		header string
		times  int // how often the server fails before it answers
		want   string
		tries  int
	}{
		{"too many requests", 429, "", 3, "", 4},
		{"storm without end", 429, "", 1000, "tried 6 times: request", 6},
		{"failure", 500, "", 1, "", 2},
		{"unavailable", 503, "0", 2, "", 3},
		{"bad request", 400, "", 1000, "answered 400 Bad Request: no [API key] here", 1},
		{"unauthorised", 401, "", 1000, "answered 401 Unauthorized", 1},
		{"redirect", 307, "", 1000, "answered 307", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, OpenAI)
			t.Setenv("POLICY_KEY", "secret-key")
			cfg := config(f)
			cfg.Attempts, cfg.APIKeyEnv = 6, "POLICY_KEY"
			p := open(t, cfg, "w")
			tries := 0
			f.set(func(f *fake) {
				f.intercept = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != "/v1/completions" {
						return false
					}
					if r.Header.Get("Authorization") != "Bearer secret-key" {
						t.Errorf("authorised by %q", r.Header.Get("Authorization"))
					}
					if tries++; tries > c.times {
						return false
					}
					w.Header().Set("Retry-After", c.header)
					w.Header().Set("Location", "http://elsewhere.example/")
					http.Error(w, "no secret-key here", c.status)
					return true
				}
			})
			got, err := begin(t, p).Generate(t.Context(), []int32{1}, sampling)
			if tries != c.tries {
				t.Errorf("tried %d times, want %d", tries, c.tries)
			}
			if c.want != "" {
				wantError(t, err, c.want)
				if strings.Contains(err.Error(), "secret-key") {
					t.Errorf("the error holds the key: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			sampledBy(t, "w", 1, got.Tokens)
		})
	}
}

// TestEndpointDies: the rollout's next attempt sends the whole sequence to another
// server, and the session stays there.
func TestEndpointDies(t *testing.T) {
	for _, dialect := range dialects {
		t.Run(dialect, func(t *testing.T) {
			a, b := newFake(t, dialect), newFake(t, dialect)
			p := open(t, config(a, b), "w")
			s := begin(t, p)
			if _, err := s.Generate(t.Context(), []int32{1}, sampling); err != nil {
				t.Fatal(err)
			}
			if s.held != 0 || len(b.prompts()) != 0 {
				t.Fatalf("began at %d", s.held)
			}
			a.set(func(a *fake) {
				a.intercept = func(w http.ResponseWriter, r *http.Request) bool {
					panic(http.ErrAbortHandler) // the connection is cut, also in the middle of a request
				}
			})
			for range 2 {
				if _, err := s.Generate(t.Context(), []int32{2}, sampling); err != nil {
					t.Fatal(err)
				}
			}
			got := b.prompts()
			if s.held != 1 || len(got) != 2 || len(got[0]) != 7 || len(got[1]) != 13 {
				t.Errorf("at %d, which was sent %v", s.held, got)
			}
			if p.endpoints[0].sessions != 0 || p.endpoints[1].sessions != 1 {
				t.Errorf("%d and %d sessions", p.endpoints[0].sessions, p.endpoints[1].sessions)
			}
		})
	}
}

// TestSlowServer: a server that takes a request and says nothing is left when the
// request's time is over.
func TestSlowServer(t *testing.T) {
	a, b := newFake(t, OpenAI), newFake(t, OpenAI)
	cfg := config(a, b)
	cfg.RequestTime = 50 * time.Millisecond
	p := open(t, cfg, "w")
	hold := make(chan struct{})
	defer close(hold)
	a.set(func(a *fake) { a.hold = hold })
	s := begin(t, p)
	if _, err := s.Generate(t.Context(), []int32{1}, sampling); err != nil {
		t.Fatal(err)
	}
	if s.held != 1 {
		t.Errorf("stayed at %d", s.held)
	}
}

// TestCallerGivesUp: the end of the caller's context is not the server's fault.
func TestCallerGivesUp(t *testing.T) {
	f := newFake(t, OpenAI)
	p := open(t, config(f), "w")
	hold := make(chan struct{})
	defer close(hold)
	f.set(func(f *fake) { f.hold = hold })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	s := begin(t, p)
	go func() {
		_, err := s.Generate(ctx, []int32{1}, sampling)
		done <- err
	}()
	eventually(t, "the request arrives", func() bool { return len(f.prompts()) == 1 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := p.published(); !p.endpoints[0].usable(got.version) {
		t.Errorf("the server is set aside: %v", p.endpoints[0].err)
	}
}

// TestContext: the servers' context bounds a sequence as the engine's does.
func TestContext(t *testing.T) {
	f := newFake(t, OpenAI) // 1000 tokens
	p := open(t, config(f), "w")
	s := begin(t, p)
	if _, err := s.Generate(t.Context(), make([]int32, 1000), sampling); !errors.Is(err, kernels.ErrContextFull) || s.Len() != 0 {
		t.Errorf("1000 tokens: %v, length %d", err, s.Len())
	}
	c, err := s.Generate(t.Context(), make([]int32, 998), sampling)
	if !errors.Is(err, kernels.ErrContextFull) || len(c.Tokens) != 2 || s.Len() != 1000 {
		t.Errorf("998 tokens: %d sampled, %v, length %d", len(c.Tokens), err, s.Len())
	}
	if _, err := s.Generate(t.Context(), nil, sampling); !errors.Is(err, kernels.ErrContextFull) {
		t.Errorf("full: %v", err)
	}
	for _, bad := range []kernels.Sampling{{Temperature: -1, MaxTokens: 1}, {Temperature: 1}, {Temperature: 1, TopP: 2, MaxTokens: 1}} {
		if _, err := begin(t, p).Generate(t.Context(), []int32{1}, bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// TestDistribution: log-probabilities of another distribution than was sampled from
// are not taken.
func TestDistribution(t *testing.T) {
	warm, cut, greedy := sampling, sampling, sampling
	warm.Temperature, cut.TopK, greedy.Temperature = 0.6, 20, 0
	for _, c := range []struct {
		name     string
		dialect  string
		raw      bool
		sampling kernels.Sampling
		want     string
	}{
		{"vLLM raw, temperature", OpenAI, true, warm, "--logprobs-mode processed_logprobs"},
		{"vLLM raw, cut", OpenAI, true, cut, "--logprobs-mode processed_logprobs"},
		{"vLLM raw, plain", OpenAI, true, sampling, ""},
		{"vLLM raw, greedy", OpenAI, true, greedy, ""},
		{"vLLM processed, temperature", OpenAI, false, warm, ""},
		{"vLLM processed, cut", OpenAI, false, cut, ""},
		{"SGLang, temperature", SGLang, false, warm, ""},
		{"SGLang, cut", SGLang, false, cut, "leave out top_k and top_p"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, c.dialect)
			f.raw = c.raw
			p := open(t, config(f), "w")
			for range 2 {
				got, err := begin(t, p).Generate(t.Context(), []int32{1}, c.sampling)
				if c.want != "" {
					wantError(t, err, c.want, f.server.URL)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if c.sampling.Temperature == 0 && slices.Max(got.LogProbs) != 0 {
					t.Errorf("greedy log-probabilities %v, want 0 by definition", got.LogProbs)
				}
			}
			probes := 0
			for _, a := range f.asked {
				if a.topK == 1 {
					probes++
				}
			}
			if want := map[bool]int{true: 2, false: 1}[c.want != ""]; transforms(&request{sampling: c.sampling}) && c.dialect == OpenAI && probes != want {
				t.Errorf("%d probes, want %d", probes, want)
			}
		})
	}
}
