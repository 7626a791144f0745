package remote

import (
	"context"
	"errors"
	"fmt"

	"millrace/kernels"
)

// request asks for one completion of a sequence.
type request struct {
	id, session string // in the server's log and, for routers, in a header
	model       string
	prompt      []int32
	sampling    kernels.Sampling
	// maxTokens is sampling.MaxTokens or what the context leaves of it.
	maxTokens int
}

// answer is what a server said, as it said it.
type answer struct {
	// tokens and logProbs are nil where the server gives none; the pointer is nil at
	// a token without one.
	tokens   []int32
	logProbs []*float64
	// prompt is the server's echo of the ids, promptTokens and sampledTokens its
	// counts; nil where it gives none.
	prompt                      []int32
	promptTokens, sampledTokens *int
	text                        string
	finish                      string
	// weights is the name of the weights that sampled, "" where not told.
	weights string
}

// The reasons for which a completion ends.
const (
	finishStop   = "stop"
	finishLength = "length"
	finishAbort  = "abort"
)

// dialect is how a kind of server is spoken to.
type dialect interface {
	// ask writes a request for a completion.
	ask(r *request) (path string, body any, err error)
	// read reads its answer.
	read(body []byte) (answer, error)
	// load makes the checkpoint in dir the server's weights under a name. The server
	// serves nobody meanwhile.
	load(ctx context.Context, c *caller, dir, name string) error
	// weights is the name of the server's weights; known is false if it keeps none.
	weights(ctx context.Context, c *caller) (name string, known bool, err error)
	// reports refuses settings under which the server's log-probabilities would be
	// of another distribution than it samples from.
	reports(ctx context.Context, c *caller, r *request) error
}

// identify finds out which dialect a server speaks.
func identify(ctx context.Context, c *caller, want string) (dialect, error) {
	switch want {
	case OpenAI:
		return openAI{}, nil
	case Chat:
		return chat{}, nil
	}
	for _, path := range modelInfo {
		var info sglangInfo
		err := c.get(ctx, path, &info)
		switch {
		case err == nil && info.ModelPath != "":
			return sglang{info: path}, nil
		case err != nil && !missing(err):
			return nil, err
		}
	}
	if want == SGLang {
		return nil, fmt.Errorf("policy server %s: has none of %v: it is not SGLang", c.base, modelInfo)
	}
	return openAI{}, nil
}

// served are the models of GET /v1/models; both vLLM and SGLang tell max_model_len.
type served struct {
	Data []struct {
		ID          string `json:"id"`
		MaxModelLen int    `json:"max_model_len"`
	} `json:"data"`
}

// errNotServed is a model that a server does not have.
var errNotServed = errors.New("does not serve the model")

// findModel returns the server's name for the policy and the length of its context,
// 0 if not told.
func findModel(ctx context.Context, c *caller, want string) (name string, context int, err error) {
	var models served
	if err := c.get(ctx, "/v1/models", &models); err != nil {
		return "", 0, err
	}
	var names []string
	for _, m := range models.Data {
		if m.ID == want || want == "" && len(models.Data) == 1 {
			return m.ID, m.MaxModelLen, nil
		}
		names = append(names, m.ID)
	}
	if want == "" {
		return "", 0, fmt.Errorf("policy server %s: serves %q: name one as the model: %w", c.base, names, errNotServed)
	}
	return "", 0, fmt.Errorf("policy server %s: serves %q, not %q: %w", c.base, names, want, errNotServed)
}
