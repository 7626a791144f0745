package train

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"millrace/kernels"
	"millrace/kernels/checkpoint"
	"millrace/kernels/cpu"
	"millrace/kernels/tokenizer"
)

// RandomPolicy is a policy that has learnt nothing: weights drawn from the run's
// seed, and a vocabulary of the words of the task set's text environment.
type RandomPolicy struct {
	// Layers is the depth of the model; 0 trains another policy.
	Layers int `yaml:"layers"`
	// Hidden, Intermediate, Heads, KeyValueHeads and HeadDim are the shape of a layer.
	Hidden        int `yaml:"hidden"`
	Intermediate  int `yaml:"intermediate"`
	Heads         int `yaml:"heads"`
	KeyValueHeads int `yaml:"key_value_heads"`
	HeadDim       int `yaml:"head_dim"`
}

func defaultRandomPolicy() RandomPolicy {
	return RandomPolicy{Hidden: 64, Intermediate: 192, Heads: 4, KeyValueHeads: 4, HeadDim: 16}
}

// spare are the positions beyond a rollout's context: a turn that is cut is closed
// behind it.
const spare = 16

// model is the policy's shape but for its vocabulary.
func (c RandomPolicy) model(context int) kernels.Config {
	return kernels.Config{
		HiddenSize: c.Hidden, IntermediateSize: c.Intermediate, NumHiddenLayers: c.Layers,
		NumAttentionHeads: c.Heads, NumKeyValueHeads: c.KeyValueHeads, HeadDim: c.HeadDim,
		MaxPositionEmbeddings: context + spare, RMSNormEps: 1e-6, RopeTheta: 10_000, TieWordEmbeddings: true,
	}
}

// validate says what is wrong with the random policy of a configuration, if it has
// one.
func (c RandomPolicy) validate(whole Config) error {
	if c.Layers == 0 {
		return nil
	}
	var errs []error
	if whole.Policy.Checkpoint != "" {
		errs = append(errs, errors.New("checkpoint is set too: which of the two is trained?"))
	}
	if whole.Tasks.InSandboxes() {
		errs = append(errs, errors.New("its vocabulary is that of a text environment: set tasks.environment.name"))
	}
	model := c.model(whole.Rollout.Limits.Context)
	model.VocabSize = minVocabulary
	return errors.Join(append(errs, checkpoint.Validate(model))...)
}

// randomPolicy writes the configuration's random policy into dir, a Hugging Face
// directory, unless it is there already. Equal configurations give equal files.
func randomPolicy(c Config, dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("making a place for the random policy: %w", err)
	}
	unfinished, err := os.MkdirTemp(filepath.Dir(dir), ".policy-*")
	if err != nil {
		return fmt.Errorf("making a place for the random policy: %w", err)
	}
	if err := c.writeRandomPolicy(unfinished); err != nil {
		return errors.Join(fmt.Errorf("making the random policy: %w", err), os.RemoveAll(unfinished))
	}
	if err := os.Rename(unfinished, dir); err != nil {
		return fmt.Errorf("putting the random policy in its place: %w", err)
	}
	return nil
}

func (c Config) writeRandomPolicy(dir string) error {
	tasks, err := c.Tasks.load()
	if err != nil {
		return err
	}
	vocabulary, err := textTokenizer(tasks, c.Tasks.Split, c.Rollout.Limits.Steps)
	if err != nil {
		return err
	}
	chat, err := tokenizer.NewChat(vocabulary)
	if err != nil {
		return err
	}
	model := c.Policy.Random.model(c.Rollout.Limits.Context)
	model.VocabSize = vocabulary.VocabSize()
	weights, err := cpu.InitWeights(model, c.Seed)
	if err != nil {
		return err
	}
	widen(weights)
	options := checkpoint.Options{DType: checkpoint.F32, Stop: chat.Stop(), Pad: chat.EndOfText()}
	if _, err := checkpoint.Save(dir, model, weights, options); err != nil {
		return err
	}
	return vocabulary.Save(dir, model.MaxPositionEmbeddings)
}

// usualStd is the standard deviation of InitWeights, Qwen3's at widths of thousands.
const usualStd = 0.02

// widen scales the matrices that values pass through to a standard deviation of
// 1/sqrt(columns), at which a layer's output is as large as its input. At usualStd
// the layers of so narrow a model say next to nothing beside the token itself, and a
// policy that begins so learns for long to answer the same to every question.
// Embeddings stay, so that all answers are nearly as likely, and so do queries and
// keys, which are normalised.
func widen(weights []kernels.Tensor) {
	for _, w := range weights {
		switch {
		case len(w.Shape) != 2, strings.HasSuffix(w.Name, "embed_tokens.weight"),
			strings.HasSuffix(w.Name, "q_proj.weight"), strings.HasSuffix(w.Name, "k_proj.weight"):
			continue
		}
		gain := float32(1 / (usualStd * math.Sqrt(float64(w.Shape[1]))))
		for i := range w.Data {
			w.Data[i] *= gain
		}
	}
}
