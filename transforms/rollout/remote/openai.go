package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// openAI is vLLM's /v1/completions with its extra fields
// (docs.vllm.ai/en/latest/serving/openai_compatible_server, and
// vllm/entrypoints/openai/completion/protocol.py for the types), and the weight
// calls of VLLM_SERVER_DEV_MODE=1 (vllm/entrypoints/serve/dev).
type openAI struct{}

// completionRequest sets everything that shapes the distribution: what a request
// leaves out, vLLM takes from the model's generation_config.json, which for Qwen3 is
// temperature 0.6, top_k 20 and top_p 0.95.
type completionRequest struct {
	Model       string  `json:"model"`
	Prompt      []int32 `json:"prompt"`
	MaxTokens   int     `json:"max_tokens"`
	N           int     `json:"n"`
	Temperature float64 `json:"temperature"`
	TopP        float64 `json:"top_p"`
	// TopK -1 keeps all, in old versions too, which refuse 0.
	TopK              int     `json:"top_k"`
	MinP              float64 `json:"min_p"`
	RepetitionPenalty float64 `json:"repetition_penalty"`
	PresencePenalty   float64 `json:"presence_penalty"`
	FrequencyPenalty  float64 `json:"frequency_penalty"`
	Seed              int64   `json:"seed"`
	StopTokenIDs      []int32 `json:"stop_token_ids"`
	// IgnoreEOS leaves StopTokenIDs as the only ids that stop; those of
	// generation_config.json would be added.
	IgnoreEOS         bool `json:"ignore_eos"`
	SkipSpecialTokens bool `json:"skip_special_tokens"`
	// LogProbs 0 asks for the sampled token's alone.
	LogProbs int `json:"logprobs"`
	// ReturnTokenIDs exists since vLLM 0.10.2; versions before name the token
	// "token_id:N" among the log-probabilities.
	ReturnTokenIDs         bool `json:"return_token_ids"`
	ReturnTokensAsTokenIDs bool `json:"return_tokens_as_token_ids"`
}

func (openAI) ask(r *request) (string, any, error) {
	return "/v1/completions", &completionRequest{
		Model: r.model, Prompt: r.prompt, MaxTokens: r.maxTokens, N: 1,
		Temperature: r.sampling.Temperature, TopP: keepP(r.sampling.TopP), TopK: keepK(r.sampling.TopK),
		RepetitionPenalty: 1, Seed: requestSeed(r.sampling.Seed, len(r.prompt)),
		StopTokenIDs: r.sampling.Stop, IgnoreEOS: true, SkipSpecialTokens: false,
		ReturnTokenIDs: true, ReturnTokensAsTokenIDs: true,
	}, nil
}

// keepP and keepK write "keep all" as servers do: 1 and -1.
func keepP(p float64) float64 {
	if p == 0 {
		return 1
	}
	return p
}

func keepK(k int) int {
	if k == 0 {
		return -1
	}
	return k
}

type completionResponse struct {
	Choices []struct {
		Text         string  `json:"text"`
		FinishReason string  `json:"finish_reason"`
		TokenIDs     []int32 `json:"token_ids"`
		// PromptTokenIDs stands in the choice, not beside the choices.
		PromptTokenIDs []int32 `json:"prompt_token_ids"`
		LogProbs       *struct {
			Tokens        []string   `json:"tokens"`
			TokenLogProbs []*float64 `json:"token_logprobs"`
		} `json:"logprobs"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     *int `json:"prompt_tokens"`
		CompletionTokens *int `json:"completion_tokens"`
	} `json:"usage"`
}

func (openAI) read(body []byte) (answer, error) {
	var r completionResponse
	if err := json.Unmarshal(body, &r); err != nil {
		return answer{}, fmt.Errorf("reading the completion: %w", err)
	}
	if len(r.Choices) != 1 {
		return answer{}, fmt.Errorf("the completion has %d choices, want 1", len(r.Choices))
	}
	c := r.Choices[0]
	a := answer{tokens: c.TokenIDs, prompt: c.PromptTokenIDs, text: c.Text, finish: c.FinishReason}
	if r.Usage != nil {
		a.promptTokens, a.sampledTokens = r.Usage.PromptTokens, r.Usage.CompletionTokens
	}
	if c.LogProbs == nil {
		return a, nil
	}
	a.logProbs = c.LogProbs.TokenLogProbs
	named := namedTokens(c.LogProbs.Tokens)
	switch {
	case a.tokens == nil:
		a.tokens = named
	case named != nil && !slices.Equal(named, a.tokens):
		return answer{}, errors.New("choices[0]: token_ids and logprobs.tokens name different tokens")
	}
	return a, nil
}

// namedTokens reads "token_id:N" names; nil unless all are.
func namedTokens(names []string) []int32 {
	ids := make([]int32, 0, len(names))
	for _, n := range names {
		digits, ok := strings.CutPrefix(n, "token_id:")
		id, err := strconv.ParseUint(digits, 10, 31)
		if !ok || err != nil {
			return nil
		}
		ids = append(ids, int32(id))
	}
	if len(ids) == 0 {
		return nil
	}
	return ids
}

// load reloads the weights between /pause and /resume. The pause waits for the
// requests of other clients, and clears the caches, whose entries are of the old
// weights.
func (openAI) load(ctx context.Context, c *caller, dir, name string) (err error) {
	if err := c.post(ctx, "/pause?mode=wait&clear_cache=true", nil, nil); err != nil {
		if missing(err) {
			return fmt.Errorf("%w (start vLLM with VLLM_SERVER_DEV_MODE=1, which has the calls that change weights)", err)
		}
		return err
	}
	defer func() {
		// The server must not stay paused because ctx has ended.
		resume, cancel := context.WithTimeout(context.WithoutCancel(ctx), resumeTime)
		defer cancel()
		err = errors.Join(err, c.post(resume, "/resume", nil, nil))
	}()
	reload := map[string]any{"method": "reload_weights", "kwargs": map[string]string{"weights_path": dir}}
	if err := c.post(ctx, "/collective_rpc", reload, nil); err != nil {
		return fmt.Errorf("loading %s: %w", dir, err)
	}
	// Prefixes cached by versions whose pause leaves the cache alone.
	var reset struct {
		Success *bool `json:"success"`
	}
	body, err := c.call(ctx, http.MethodPost, "/reset_prefix_cache", nil, nil, answerBytes)
	if err != nil {
		return err
	}
	if json.Unmarshal(body, &reset) == nil && reset.Success != nil && !*reset.Success {
		return fmt.Errorf("policy server %s: kept its prefix cache, whose entries are of the old weights", c.base)
	}
	if err := c.post(ctx, "/update_weight_version", map[string]string{"new_version": name}, nil); err != nil && !missing(err) {
		return err
	}
	return nil
}

// resumeTime is the deadline of the call that ends a pause.
const resumeTime = 30 * time.Second

func (openAI) weights(ctx context.Context, c *caller) (string, bool, error) {
	var info struct {
		WeightVersion string `json:"weight_version"`
	}
	err := c.get(ctx, "/weight_info", &info)
	if missing(err) {
		return "", false, nil
	}
	return info.WeightVersion, err == nil, err
}
