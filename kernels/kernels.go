// Package kernels is the policy's arithmetic seen from outside: the shape of a
// Qwen3 model, the training sequences it learns from, the losses, and the two
// interfaces every backend implements, [Trainer] and [Generator].
//
// It knows nothing of tasks, rewards or topics.
package kernels

import (
	"context"
	"errors"
)

// Config is the shape of a Qwen3 dense model, with the names of Hugging Face's
// config.json.
type Config struct {
	VocabSize             int     `json:"vocab_size"`
	HiddenSize            int     `json:"hidden_size"`
	IntermediateSize      int     `json:"intermediate_size"`
	NumHiddenLayers       int     `json:"num_hidden_layers"`
	NumAttentionHeads     int     `json:"num_attention_heads"`
	NumKeyValueHeads      int     `json:"num_key_value_heads"`
	HeadDim               int     `json:"head_dim"`
	MaxPositionEmbeddings int     `json:"max_position_embeddings"`
	RMSNormEps            float64 `json:"rms_norm_eps"`
	RopeTheta             float64 `json:"rope_theta"`
	TieWordEmbeddings     bool    `json:"tie_word_embeddings"`
}

// Tensor is one named parameter: row-major float32 with the shape of the
// Hugging Face checkpoint ([out, in] for linear layers).
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// Weights are the parameters of a policy, wherever they lie.
type Weights interface {
	// Tensors returns the parameters in host memory, in the order of the Hugging
	// Face checkpoint. They may be copies or the live ones: the caller must not
	// write, and reads before the trainer that they belong to steps.
	Tensors() ([]Tensor, error)
}

// Tensors are weights in host memory.
type Tensors []Tensor

// Tensors implements [Weights].
func (t Tensors) Tensors() ([]Tensor, error) { return t, nil }

// Sequence is one sequence to learn from. All slices have the length of Tokens.
type Sequence struct {
	// ID names the sample in errors.
	ID     string
	Tokens []int32
	// Mask is true at tokens that are trained; Mask[0] is false since the first
	// token has no prediction.
	Mask []bool
	// LogProbs is the behaviour log-probability of each trained token. A nil
	// slice means on-policy: the ratio is 1 by definition (supervised steps).
	LogProbs []float32
	// Reference is the reference policy's log-probability, nil without a KL term.
	Reference []float32
	// Advantage weighs every trained token.
	Advantage float64
}

// Trainer owns the weights, their gradients and the optimizer state.
//
// A step is: Accumulate for each micro-batch, then Step. Neither may run
// concurrently with itself or the other.
type Trainer interface {
	Config() Config
	// LogProbs returns log p(Tokens[t] | Tokens[:t]) at temperature for each
	// sequence, 0 at t = 0. It changes nothing.
	LogProbs(ctx context.Context, sequences []Sequence, temperature float64) ([][]float32, error)
	// Accumulate runs forward, loss and backward over packed sequences and adds
	// to the gradients.
	Accumulate(ctx context.Context, sequences []Sequence, loss Loss) (Statistics, error)
	// Step clips the gradients by global norm, applies AdamW and clears them.
	// A gradient that is not finite leaves the weights untouched and is told in
	// the result.
	Step(optimizer AdamW) (StepResult, error)
	// Weights are those of the last Step, valid until the next one. Nothing is
	// copied until their Tensors are asked for.
	Weights() Weights
	// State returns the optimizer's tensors ("exp_avg.<name>", "exp_avg_sq.<name>")
	// and the number of steps taken, for a checkpoint. The tensors are as those of
	// Weights: valid until the next Step, not to be written.
	State() (tensors []Tensor, step int64, err error)
	// Restore replaces weights and optimizer state; a nil state starts afresh.
	Restore(weights, state []Tensor, step int64) error
	Close() error
}

// AdamW are the settings of one optimizer step (Loshchilov & Hutter 2019,
// arXiv:1711.05101, decoupled weight decay; bias correction as in Adam).
type AdamW struct {
	LearningRate float64
	Beta1, Beta2 float64
	Epsilon      float64
	WeightDecay  float64
	// ClipNorm is the largest global gradient norm; 0 does not clip.
	ClipNorm float64
}

// StepResult is what an optimizer step saw.
type StepResult struct {
	// GradNorm is the global L2 norm before clipping.
	GradNorm float64
	// Skipped is true when the gradient was not finite and nothing was applied.
	Skipped bool
	// NotFinite names the sequences accumulated since the last step whose loss, or
	// its derivative, was NaN or infinite. It may be empty in a step that is
	// skipped: then the backward pass overflowed.
	NotFinite []string
}

// Sampling are the settings of generation.
type Sampling struct {
	// Temperature divides the logits; 0 takes the most probable token.
	Temperature float64
	// TopK keeps the k most probable tokens; 0 keeps all.
	TopK int
	// TopP keeps the smallest set of tokens whose probability reaches p; 0 and
	// 1 keep all.
	TopP float64
	// MinP keeps the tokens at least MinP times as probable as the most probable
	// one (Nguyen et al. 2024, arXiv:2407.01082); 0 keeps all. It comes after
	// Temperature and before TopK, which comes before TopP.
	MinP float64
	// MaxTokens bounds the tokens of one call.
	MaxTokens int
	// Stop ends the call after any of these ids was sampled; the id is part of
	// the result.
	Stop []int32
	// Seed and the position of a token decide its random number, so a sequence
	// does not depend on what else is in the batch.
	Seed uint64
}

// Completion is what one Generate call sampled.
type Completion struct {
	Tokens []int32
	// LogProbs are under the distribution sampled from.
	LogProbs []float32
	// Versions is the policy version of each token.
	Versions []int32
	// Stopped is true when the last token is a stop id.
	Stopped bool
}

// Generator samples from the policy with a batch that changes at every token.
// It is safe for concurrent use.
type Generator interface {
	// Open starts an empty sequence.
	Open() (Session, error)
	// Publish makes weights the policy of the given version from the next token
	// on. Host tensors are copied; a generator that samples from a trainer on its own
	// device takes that trainer's weights as they lie, and the trainer writes its
	// next step elsewhere.
	Publish(version int64, weights Weights) error
	// Version is the version last published.
	Version() int64
	Close() error
}

// ErrContextFull is part of the error of a Generate call whose sequence reaches
// MaxPositionEmbeddings.
var ErrContextFull = errors.New("context is full")

// Session is one growing sequence with its key-value cache. It must be closed.
// It is not safe for concurrent use.
type Session interface {
	// Generate appends prompt to the sequence, samples, and appends what was
	// sampled. It blocks until the completion is there or ctx ends.
	//
	// A prompt that does not fit in the context, with room for one token more,
	// is refused with ErrContextFull and changes nothing. A completion that runs
	// into the end of the context is returned together with ErrContextFull. After
	// any other error of a call that had begun, the session can only be closed.
	Generate(ctx context.Context, prompt []int32, sampling Sampling) (Completion, error)
	// Len is the number of tokens in the sequence.
	Len() int
	Close()
}
