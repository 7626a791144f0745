package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"millrace/kernels"
)

const (
	configFile     = "config.json"
	generationFile = "generation_config.json"
	architecture   = "Qwen3ForCausalLM"
	// maxJSONBytes bounds config.json and the index of shards. The index of a
	// model with 100,000 tensors has 10 MB.
	maxJSONBytes = 32 << 20
)

// configFormat is the part of config.json that decides how the model computes.
// Pointers tell an absent field from zero. Versions 4 and 5 of transformers differ
// in where the base of the rotary embedding stands.
type configFormat struct {
	Architectures         []string `json:"architectures"`
	ModelType             string   `json:"model_type"`
	VocabSize             *int     `json:"vocab_size"`
	HiddenSize            *int     `json:"hidden_size"`
	IntermediateSize      *int     `json:"intermediate_size"`
	NumHiddenLayers       *int     `json:"num_hidden_layers"`
	NumAttentionHeads     *int     `json:"num_attention_heads"`
	NumKeyValueHeads      *int     `json:"num_key_value_heads"`
	HeadDim               *int     `json:"head_dim"`
	MaxPositionEmbeddings *int     `json:"max_position_embeddings"`
	RMSNormEps            *float64 `json:"rms_norm_eps"`
	TieWordEmbeddings     bool     `json:"tie_word_embeddings"`
	HiddenAct             string   `json:"hidden_act"`

	RopeTheta      *float64    `json:"rope_theta"`      // version 4
	RopeScaling    *ropeFormat `json:"rope_scaling"`    // version 4
	RopeParameters *ropeFormat `json:"rope_parameters"` // version 5

	AttentionBias    bool            `json:"attention_bias"`
	UseSlidingWindow bool            `json:"use_sliding_window"`
	LayerTypes       []string        `json:"layer_types"`
	Quantization     json.RawMessage `json:"quantization_config"`
}

type ropeFormat struct {
	Theta *float64 `json:"rope_theta"`
	Type  string   `json:"rope_type"`
	// Older is the name of Type before transformers 4.43.
	Older string `json:"type"`
}

// ReadConfig reads the shape of the model from config.json in a directory. A model
// of another architecture, or with settings that we would not compute as they say,
// is an error that names the field and what was found.
func ReadConfig(dir string) (kernels.Config, error) {
	path := filepath.Join(dir, configFile)
	data, err := readJSON(path)
	if err != nil {
		return kernels.Config{}, err
	}
	cfg, err := ParseConfig(data)
	if err != nil {
		return kernels.Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return cfg, nil
}

// ParseConfig reads the content of a config.json.
func ParseConfig(data []byte) (kernels.Config, error) {
	var f configFormat
	if err := json.Unmarshal(data, &f); err != nil {
		return kernels.Config{}, err
	}
	if !slices.Equal(f.Architectures, []string{architecture}) {
		return kernels.Config{}, fmt.Errorf("architectures is %q (model_type %q), want [%q]", f.Architectures, f.ModelType, architecture)
	}
	if err := f.checkSupported(); err != nil {
		return kernels.Config{}, err
	}
	cfg := kernels.Config{TieWordEmbeddings: f.TieWordEmbeddings}
	for _, field := range []struct {
		name string
		from *int
		to   *int
	}{
		{"vocab_size", f.VocabSize, &cfg.VocabSize},
		{"hidden_size", f.HiddenSize, &cfg.HiddenSize},
		{"intermediate_size", f.IntermediateSize, &cfg.IntermediateSize},
		{"num_hidden_layers", f.NumHiddenLayers, &cfg.NumHiddenLayers},
		{"num_attention_heads", f.NumAttentionHeads, &cfg.NumAttentionHeads},
		{"num_key_value_heads", f.NumKeyValueHeads, &cfg.NumKeyValueHeads},
		{"head_dim", f.HeadDim, &cfg.HeadDim},
		{"max_position_embeddings", f.MaxPositionEmbeddings, &cfg.MaxPositionEmbeddings},
	} {
		if field.from == nil {
			return kernels.Config{}, fmt.Errorf("%s is missing", field.name)
		}
		*field.to = *field.from
	}
	if f.RMSNormEps == nil {
		return kernels.Config{}, errors.New("rms_norm_eps is missing")
	}
	cfg.RMSNormEps = *f.RMSNormEps
	theta, err := f.theta()
	if err != nil {
		return kernels.Config{}, err
	}
	cfg.RopeTheta = theta
	return cfg, Validate(cfg)
}

// checkSupported refuses settings that change what the model computes in ways
// that the kernels do not have.
func (f *configFormat) checkSupported() error {
	for _, rope := range []struct {
		name string
		f    *ropeFormat
	}{{"rope_scaling", f.RopeScaling}, {"rope_parameters", f.RopeParameters}} {
		if rope.f == nil {
			continue
		}
		for _, kind := range []string{rope.f.Type, rope.f.Older} {
			if kind != "" && kind != "default" {
				return fmt.Errorf(`%s.rope_type is %q, want "default"`, rope.name, kind)
			}
		}
	}
	switch {
	case f.HiddenAct != "silu":
		return fmt.Errorf(`hidden_act is %q, want "silu"`, f.HiddenAct)
	case f.AttentionBias:
		return errors.New("attention_bias is true, want false")
	case f.UseSlidingWindow:
		return errors.New("use_sliding_window is true, want false")
	case len(f.Quantization) > 0 && string(f.Quantization) != "null":
		return errors.New("quantization_config is set: quantised weights are not supported")
	}
	for i, kind := range f.LayerTypes {
		if kind != "full_attention" {
			return fmt.Errorf(`layer_types[%d] is %q, want "full_attention"`, i, kind)
		}
	}
	return nil
}

// theta is the base of the rotary embedding, wherever it stands.
func (f *configFormat) theta() (float64, error) {
	found := f.RopeTheta
	if f.RopeParameters != nil && f.RopeParameters.Theta != nil {
		if found != nil && *found != *f.RopeParameters.Theta {
			return 0, fmt.Errorf("rope_theta is %v, but rope_parameters.rope_theta %v", *found, *f.RopeParameters.Theta)
		}
		found = f.RopeParameters.Theta
	}
	if found == nil {
		return 0, errors.New("rope_theta and rope_parameters.rope_theta are missing")
	}
	return *found, nil
}

// Validate tells the first field of cfg that no model can have. The upper bounds
// are several times those of the largest Qwen3, and keep all products of sizes
// within 64 bits.
func Validate(cfg kernels.Config) error {
	for _, field := range []struct {
		name       string
		value, max int
	}{
		{"vocab_size", cfg.VocabSize, 1 << 20},
		{"hidden_size", cfg.HiddenSize, 1 << 16},
		{"intermediate_size", cfg.IntermediateSize, 1 << 18},
		{"num_hidden_layers", cfg.NumHiddenLayers, 1 << 10},
		{"num_attention_heads", cfg.NumAttentionHeads, 1 << 10},
		{"num_key_value_heads", cfg.NumKeyValueHeads, 1 << 10},
		{"head_dim", cfg.HeadDim, 1 << 10},
		{"max_position_embeddings", cfg.MaxPositionEmbeddings, 1 << 24},
	} {
		if field.value < 1 || field.value > field.max {
			return fmt.Errorf("%s is %d, want 1 to %d", field.name, field.value, field.max)
		}
	}
	switch {
	case cfg.HeadDim%2 != 0:
		return fmt.Errorf("head_dim is %d, want an even number: the rotary embedding turns pairs", cfg.HeadDim)
	case cfg.NumAttentionHeads%cfg.NumKeyValueHeads != 0:
		return fmt.Errorf("num_attention_heads is %d, want a multiple of num_key_value_heads %d", cfg.NumAttentionHeads, cfg.NumKeyValueHeads)
	case !(cfg.RMSNormEps > 0 && cfg.RMSNormEps < 1):
		return fmt.Errorf("rms_norm_eps is %v, want more than 0 and less than 1", cfg.RMSNormEps)
	case !(cfg.RopeTheta >= 1 && cfg.RopeTheta <= 1e12):
		return fmt.Errorf("rope_theta is %v, want 1 to 1e12", cfg.RopeTheta)
	}
	return nil
}

// readJSON reads a small file.
func readJSON(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open checkpoint: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxJSONBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(data) > maxJSONBytes {
		return nil, fmt.Errorf("read %s: larger than %d MiB", path, maxJSONBytes>>20)
	}
	return data, nil
}
