package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// sglang is SGLang's native /generate (docs.sglang.io/basic_usage/native_api and
// .../sampling_params; python/sglang/srt/entrypoints/http_server.py) and its
// /update_weights_from_disk (docs.sglang.io/advanced_features/sglang_for_rl).
type sglang struct{ info string }

// modelInfo are the newer and the older name of one call.
var modelInfo = []string{"/model_info", "/get_model_info"}

type sglangInfo struct {
	ModelPath     string `json:"model_path"`
	WeightVersion string `json:"weight_version"`
}

// sglangReserve are the places of the context that SGLang keeps for itself: it
// takes inputs of at most context - 6 tokens, and ends at context - 2 (its
// Scheduler's max_req_len and max_req_input_len).
const sglangReserve = 8

type generateRequest struct {
	ID            string         `json:"rid"`
	InputIDs      []int32        `json:"input_ids"`
	Sampling      sglangSampling `json:"sampling_params"`
	ReturnLogProb bool           `json:"return_logprob"`
	Stream        bool           `json:"stream"`
}

// sglangSampling leaves ignore_eos false: here, unlike in vLLM, it switches
// stop_token_ids off too (Req._check_token_based_finish). A stop by an end token of
// the model that the agent does not know is refused when the answer is read.
type sglangSampling struct {
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
	// SamplingSeed has effect with --enable-deterministic-inference.
	SamplingSeed int64 `json:"sampling_seed"`
}

func (sglang) ask(r *request) (string, any, error) {
	return "/generate", &generateRequest{
		ID: r.id, InputIDs: r.prompt, ReturnLogProb: true,
		Sampling: sglangSampling{
			MaxNewTokens: r.maxTokens, Temperature: r.sampling.Temperature,
			TopP: keepP(r.sampling.TopP), TopK: keepK(r.sampling.TopK), RepetitionPenalty: 1,
			StopTokenIDs: r.sampling.Stop, NoStopTrim: true,
			SamplingSeed: requestSeed(r.sampling.Seed, len(r.prompt)),
		},
	}, nil
}

type generateResponse struct {
	Text      string  `json:"text"`
	OutputIDs []int32 `json:"output_ids"`
	Meta      *struct {
		FinishReason *struct {
			Type    string          `json:"type"`
			Matched json.RawMessage `json:"matched"`
			Message string          `json:"message"`
		} `json:"finish_reason"`
		PromptTokens     *int   `json:"prompt_tokens"`
		CompletionTokens *int   `json:"completion_tokens"`
		WeightVersion    string `json:"weight_version"`
		// OutputTokenLogProbs holds [log-probability, id, text or null].
		OutputTokenLogProbs []json.RawMessage `json:"output_token_logprobs"`
	} `json:"meta_info"`
}

func (sglang) read(body []byte) (answer, error) {
	var r generateResponse
	if err := json.Unmarshal(body, &r); err != nil {
		return answer{}, fmt.Errorf("reading the completion: %w", err)
	}
	if r.Meta == nil || r.Meta.FinishReason == nil {
		return answer{}, errors.New("the completion has no meta_info.finish_reason")
	}
	m := r.Meta
	a := answer{
		tokens: r.OutputIDs, promptTokens: m.PromptTokens, sampledTokens: m.CompletionTokens,
		text: r.Text, finish: m.FinishReason.Type, weights: m.WeightVersion,
	}
	// A token that is no stop id ends a completion as "stop" too: a stop text, which
	// is never asked for, or the server's way to tell of NaN (matched "NaN happened",
	// with a stop id put in the place of what was sampled).
	var matched int64
	if a.finish == finishStop && json.Unmarshal(m.FinishReason.Matched, &matched) != nil {
		return answer{}, fmt.Errorf("meta_info.finish_reason: stopped by %.40s, not by a token", m.FinishReason.Matched)
	}
	if m.OutputTokenLogProbs == nil {
		return a, nil
	}
	ids := make([]int32, len(m.OutputTokenLogProbs))
	a.logProbs = make([]*float64, len(ids))
	for i, raw := range m.OutputTokenLogProbs {
		var entry []json.RawMessage
		if err := json.Unmarshal(raw, &entry); err != nil || len(entry) < 2 {
			return answer{}, fmt.Errorf("meta_info.output_token_logprobs[%d] is %.40s: want [log-probability, id, text]", i, raw)
		}
		if err := errors.Join(json.Unmarshal(entry[0], &a.logProbs[i]), json.Unmarshal(entry[1], &ids[i])); err != nil {
			return answer{}, fmt.Errorf("meta_info.output_token_logprobs[%d] is %.40s: %w", i, raw, err)
		}
	}
	if a.tokens != nil && !slices.Equal(a.tokens, ids) {
		return answer{}, errors.New("output_ids and meta_info.output_token_logprobs name different tokens")
	}
	a.tokens = ids
	return a, nil
}

// load changes the weights. SGLang itself waits for the requests under way, other
// clients' too, since abort_all_requests is false.
func (d sglang) load(ctx context.Context, c *caller, dir, name string) error {
	var result struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
	}
	update := map[string]any{"model_path": dir, "weight_version": name, "flush_cache": true, "abort_all_requests": false}
	if err := c.post(ctx, "/update_weights_from_disk", update, &result); err != nil {
		return fmt.Errorf("loading %s: %w", dir, err)
	}
	if !result.Success {
		return fmt.Errorf("policy server %s: loading %s: %s", c.base, dir, c.quote([]byte(result.Message[:min(len(result.Message), messageBytes)])))
	}
	return nil
}

func (d sglang) weights(ctx context.Context, c *caller) (string, bool, error) {
	var info sglangInfo
	err := c.get(ctx, d.info, &info)
	return info.WeightVersion, err == nil, err
}

// reports refuses cuts: /generate divides by the temperature, but tells the
// probability before top_k and top_p (SGLang's Sampler; it divides by nothing where
// SGLANG_RETURN_ORIGINAL_LOGPROB is set).
func (sglang) reports(_ context.Context, c *caller, r *request) error {
	if cuts(r) && r.sampling.Temperature != 0 {
		return fmt.Errorf("policy server %s: SGLang's log-probabilities leave out top_k and top_p, but top_k is %d and top_p %g: set both to 0",
			c.base, r.sampling.TopK, r.sampling.TopP)
	}
	return nil
}

// floor is the log-probability that vLLM writes for minus infinity (max(logprob,
// -9999.0) in its completions).
const floor = -9999

// realLogProb tells whether a log-probability is one.
func realLogProb(p *float64) bool {
	return p != nil && !math.IsNaN(*p) && *p <= 0 && *p > floor
}
