package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a server that speaks a dialect in the fields of its documentation and
// refuses any other. What it samples is a function of its weights and of the
// position, so a test can tell by which weights a token was sampled.
type fake struct {
	dialect string
	named   bool // vLLM that keeps the name of its weights
	raw     bool // vLLM with raw_logprobs
	server  *httptest.Server

	mu       sync.Mutex // guards what follows
	weights  string     // the path they were loaded from
	name     string
	paused   bool
	inFlight int
	peak     int // largest inFlight so far
	asked    []asked
	calls    []string // the paths of other calls than completions
	// intercept answers in the server's place if it returns true.
	intercept func(w http.ResponseWriter, r *http.Request) bool
	// spoil changes the answer to a completion.
	spoil func(map[string]any)
	// hold blocks completions until it is closed.
	hold chan struct{}
	// loadError is what changing the weights answers, "" for success.
	loadError string
	// stopAfter makes the n-th sampled token the first stop id; 0 never stops.
	stopAfter int
}

// asked is a completion asked for, without the dialect.
type asked struct {
	prompt      []int32
	maxTokens   int
	stop        []int32
	topK        int
	temperature float64
	seed        int64
	header      http.Header
}

func newFake(t testing.TB, dialect string) *fake {
	t.Helper()
	f := &fake{dialect: dialect, weights: "start", name: "default"}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	intercept := f.intercept
	f.mu.Unlock()
	if intercept != nil && intercept(w, r) {
		return
	}
	path := r.Method + " " + r.URL.Path
	switch f.dialect + " " + path {
	case "openai POST /v1/completions":
		f.completion(w, r)
		return
	case "sglang POST /generate":
		f.generate(w, r)
		return
	case "chat POST /v1/chat/completions":
		f.chat(w, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, path)
	switch f.dialect + " " + path {
	case "openai GET /health", "sglang GET /health":
	case "openai GET /v1/models", "sglang GET /v1/models", "chat GET /v1/models":
		reply(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": "policy", "object": "model", "max_model_len": 1000}}})
	case "openai POST /pause":
		f.paused = true
		reply(w, map[string]any{"status": "paused"})
	case "openai POST /resume":
		f.paused = false
		reply(w, map[string]any{"status": "resumed"})
	case "openai POST /collective_rpc":
		var in struct {
			Method string            `json:"method"`
			Kwargs map[string]string `json:"kwargs"`
		}
		if !decode(w, r, &in) {
			return
		}
		if in.Method != "reload_weights" || !f.paused || f.inFlight > 0 || f.loadError != "" {
			http.Error(w, f.loadError, http.StatusInternalServerError)
			return
		}
		f.weights = in.Kwargs["weights_path"]
		reply(w, map[string]any{"results": []any{nil}})
	case "openai POST /reset_prefix_cache":
	case "openai POST /update_weight_version", "openai GET /weight_info":
		if !f.named {
			http.NotFound(w, r)
			return
		}
		if r.Method == http.MethodPost {
			var in struct {
				NewVersion string `json:"new_version"`
			}
			if !decode(w, r, &in) {
				return
			}
			f.name = in.NewVersion
		}
		reply(w, map[string]any{"weight_version": f.name})
	case "sglang GET /get_model_info":
		reply(w, map[string]any{"model_path": f.weights, "weight_version": f.name, "is_generation": true})
	case "sglang POST /update_weights_from_disk":
		var in struct {
			ModelPath     string `json:"model_path"`
			WeightVersion string `json:"weight_version"`
			FlushCache    bool   `json:"flush_cache"`
			Abort         bool   `json:"abort_all_requests"`
		}
		if !decode(w, r, &in) {
			return
		}
		if f.loadError != "" {
			w.WriteHeader(http.StatusBadRequest)
			reply(w, map[string]any{"success": false, "message": f.loadError, "num_paused_requests": 0})
			return
		}
		f.weights, f.name = in.ModelPath, in.WeightVersion
		reply(w, map[string]any{"success": true, "message": "Succeeded to update model weights.", "num_paused_requests": 0})
	default:
		http.NotFound(w, r)
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

// decode refuses fields that in does not have, as a server would ignore them.
func decode(w http.ResponseWriter, r *http.Request, in any) bool {
	text, err := io.ReadAll(r.Body)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err == nil {
		err = d.Decode(in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return err == nil
}

// sample notes what was asked and returns the tokens and log-probabilities.
func (f *fake) sample(r *http.Request, a asked) (tokens []int32, logProbs []float64, stopped bool) {
	a.header = r.Header.Clone()
	f.mu.Lock()
	f.asked = append(f.asked, a)
	f.inFlight++
	f.peak = max(f.peak, f.inFlight)
	hold, weights, stopAfter := f.hold, f.weights, f.stopAfter
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	}
	f.mu.Lock()
	f.inFlight--
	f.mu.Unlock()
	for i := range a.maxTokens {
		token, logProb := drawn(weights, len(a.prompt)+i)
		if stopAfter == i+1 {
			token, stopped = a.stop[0], true
		}
		if a.topK == 1 && !f.raw {
			logProb = 0
		}
		tokens, logProbs = append(tokens, token), append(logProbs, logProb)
		if stopped {
			break
		}
	}
	return tokens, logProbs, stopped
}

// drawn is the token at a position by some weights, below 100, and its
// log-probability.
func drawn(weights string, position int) (int32, float64) {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", weights, position)
	return int32(h.Sum32() % 100), -float64(1+h.Sum32()%1000) / 1024
}

func (f *fake) completion(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model                  string  `json:"model"`
		Prompt                 []int32 `json:"prompt"`
		MaxTokens              int     `json:"max_tokens"`
		N                      int     `json:"n"`
		Temperature            float64 `json:"temperature"`
		TopP                   float64 `json:"top_p"`
		TopK                   int     `json:"top_k"`
		MinP                   float64 `json:"min_p"`
		RepetitionPenalty      float64 `json:"repetition_penalty"`
		PresencePenalty        float64 `json:"presence_penalty"`
		FrequencyPenalty       float64 `json:"frequency_penalty"`
		Seed                   int64   `json:"seed"`
		StopTokenIDs           []int32 `json:"stop_token_ids"`
		IgnoreEOS              bool    `json:"ignore_eos"`
		SkipSpecialTokens      bool    `json:"skip_special_tokens"`
		LogProbs               *int    `json:"logprobs"`
		ReturnTokenIDs         bool    `json:"return_token_ids"`
		ReturnTokensAsTokenIDs bool    `json:"return_tokens_as_token_ids"`
	}
	if !decode(w, r, &in) {
		return
	}
	if in.Model != "policy" || in.N != 1 || in.RepetitionPenalty != 1 || in.TopP == 0 || in.TopK == 0 {
		http.Error(w, "the request leaves something to the server's defaults", http.StatusBadRequest)
		return
	}
	tokens, logProbs, stopped := f.sample(r, asked{
		prompt: in.Prompt, maxTokens: in.MaxTokens, stop: in.StopTokenIDs, topK: in.TopK, temperature: in.Temperature, seed: in.Seed,
	})
	var names []string
	for _, id := range tokens {
		names = append(names, fmt.Sprintf("token_id:%d", id))
	}
	choice := map[string]any{
		"index": 0, "text": "text", "finish_reason": "length", "stop_reason": nil,
		"logprobs":  map[string]any{"tokens": names, "token_logprobs": logProbs, "text_offset": []int{}, "top_logprobs": []any{}},
		"token_ids": tokens, "prompt_token_ids": in.Prompt, "prompt_logprobs": nil,
	}
	if stopped {
		choice["finish_reason"], choice["stop_reason"] = "stop", in.StopTokenIDs[0]
	}
	f.answer(w, map[string]any{
		"id": r.Header.Get("X-Request-Id"), "object": "text_completion", "model": in.Model, "choices": []any{choice},
		"usage": map[string]any{"prompt_tokens": len(in.Prompt), "completion_tokens": len(tokens), "total_tokens": len(in.Prompt) + len(tokens)},
	})
}

func (f *fake) generate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		RID      string  `json:"rid"`
		InputIDs []int32 `json:"input_ids"`
		Sampling struct {
			MaxNewTokens      int     `json:"max_new_tokens"`
			Temperature       float64 `json:"temperature"`
			TopP              float64 `json:"top_p"`
			TopK              int     `json:"top_k"`
			MinP              float64 `json:"min_p"`
			RepetitionPenalty float64 `json:"repetition_penalty"`
			PresencePenalty   float64 `json:"presence_penalty"`
			FrequencyPenalty  float64 `json:"frequency_penalty"`
			StopTokenIDs      []int32 `json:"stop_token_ids"`
			SkipSpecialTokens bool    `json:"skip_special_tokens"`
			NoStopTrim        bool    `json:"no_stop_trim"`
			SamplingSeed      int64   `json:"sampling_seed"`
		} `json:"sampling_params"`
		ReturnLogProb bool `json:"return_logprob"`
		Stream        bool `json:"stream"`
	}
	if !decode(w, r, &in) {
		return
	}
	s := in.Sampling
	f.mu.Lock()
	name := f.name
	f.mu.Unlock()
	tokens, logProbs, stopped := f.sample(r, asked{
		prompt: in.InputIDs, maxTokens: s.MaxNewTokens, stop: s.StopTokenIDs, topK: s.TopK, temperature: s.Temperature, seed: s.SamplingSeed,
	})
	triples := [][]any{}
	for i, id := range tokens {
		triples = append(triples, []any{logProbs[i], id, nil})
	}
	finish := map[string]any{"type": "length", "length": s.MaxNewTokens}
	if stopped {
		finish = map[string]any{"type": "stop", "matched": s.StopTokenIDs[0]}
	}
	f.answer(w, map[string]any{
		"text": "text", "output_ids": tokens,
		"meta_info": map[string]any{
			"id": in.RID, "finish_reason": finish, "prompt_tokens": len(in.InputIDs), "completion_tokens": len(tokens), "cached_tokens": 0,
			"weight_version": name, "input_token_logprobs": []any{}, "output_token_logprobs": triples, "e2e_latency": 0.5,
		},
	})
}

func (f *fake) chat(w http.ResponseWriter, r *http.Request) {
	var in chatRequest
	if !decode(w, r, &in) {
		return
	}
	content := ""
	for _, m := range in.Messages {
		content += m.Role + ":" + m.Content + ";"
	}
	f.answer(w, map[string]any{"choices": []any{map[string]any{
		"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": content},
	}}})
}

func (f *fake) answer(w http.ResponseWriter, v map[string]any) {
	f.mu.Lock()
	spoil := f.spoil
	f.mu.Unlock()
	if spoil != nil {
		spoil(v)
	}
	reply(w, v)
}

// set changes the server's behaviour.
func (f *fake) set(change func(*fake)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// prompts are those of the completions asked for so far.
func (f *fake) prompts() [][]int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out [][]int32
	for _, a := range f.asked {
		out = append(out, a.prompt)
	}
	return out
}

// called counts the calls of a path so far.
func (f *fake) called(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, c := range f.calls {
		if c == path {
			n++
		}
	}
	return n
}

// config are settings for servers on the loopback.
func config(fakes ...*fake) Config {
	c := Default()
	for _, f := range fakes {
		c.Endpoints = append(c.Endpoints, f.server.URL)
	}
	c.Run = "run"
	c.HealthEvery, c.HealthTime = 5*time.Millisecond, 10*time.Second
	c.RequestTime, c.HandOverTime, c.Patience = 10*time.Second, 20*time.Second, 10*time.Second
	c.FirstDelay, c.LongestDelay = time.Millisecond, 4*time.Millisecond
	return c
}

// open opens a policy; dir, if not empty, is published as version 0.
func open(t testing.TB, c Config, dir string) *Policy {
	t.Helper()
	p, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if dir != "" {
		if err := p.Publish(t.Context(), 0, dir); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func begin(t testing.TB, p *Policy) *session {
	t.Helper()
	s, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.(*session)
}

// eventually waits for what the background does.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for range 4000 {
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// sampledBy checks that the tokens from a position on are of the weights.
func sampledBy(t testing.TB, weights string, from int, tokens []int32) {
	t.Helper()
	var want []int32
	for i := range tokens {
		token, _ := drawn(weights, from+i)
		want = append(want, token)
	}
	if !slices.Equal(tokens, want) {
		t.Errorf("tokens %v, want %v of the weights %s", tokens, want, weights)
	}
}

func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %v\nlacks %q", err, part)
		}
	}
}
