package checkpoint

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"millrace/kernels"
)

// Options are what Save needs beside the model.
type Options struct {
	// DType is the type of the weights in the file, F32 or BF16.
	DType DType
	// Stop are the ids that end generation, the first the end of a turn; Pad fills
	// batches.
	Stop []int32
	Pad  int32
}

// Save writes config.json, generation_config.json and model.safetensors into an
// existing directory, each atomically, and returns the SHA-256 of model.safetensors
// in hexadecimal. The tensors must be those of [Layout], in any order; they are
// written in its order.
//
// The files do not replace an older set in one instant. A caller who needs that
// saves to a new directory and renames it.
func Save(dir string, cfg kernels.Config, tensors []kernels.Tensor, options Options) (digest string, err error) {
	if err := Validate(cfg); err != nil {
		return "", fmt.Errorf("save checkpoint to %s: %w", dir, err)
	}
	ordered, err := order(cfg, tensors)
	if err != nil {
		return "", fmt.Errorf("save checkpoint to %s: %w", dir, err)
	}
	digest, err = WriteTensors(filepath.Join(dir, weightsFile), ordered, options.DType, map[string]string{"format": "pt"})
	if err != nil {
		return "", err
	}
	if err := writeJSON(filepath.Join(dir, configFile), configOf(cfg, options)); err != nil {
		return "", err
	}
	return digest, writeJSON(filepath.Join(dir, generationFile), generationOf(options))
}

// order returns the tensors in the order of the layout, once each is there with
// its shape and no other is.
func order(cfg kernels.Config, tensors []kernels.Tensor) ([]kernels.Tensor, error) {
	byName := make(map[string]kernels.Tensor, len(tensors))
	for _, t := range tensors {
		byName[t.Name] = t
	}
	layout := Layout(cfg)
	ordered := make([]kernels.Tensor, len(layout))
	for i, want := range layout {
		t, ok := byName[want.Name]
		if !ok {
			return nil, fmt.Errorf("tensor %q is missing", want.Name)
		}
		if !slices.Equal(t.Shape, want.Shape) {
			return nil, fmt.Errorf("tensor %q has shape %v, want %v", t.Name, t.Shape, want.Shape)
		}
		ordered[i] = t
		delete(byName, want.Name)
	}
	for _, t := range tensors {
		if _, left := byName[t.Name]; left {
			return nil, fmt.Errorf("tensor %q does not belong to the model", t.Name)
		}
	}
	if len(tensors) != len(layout) {
		return nil, fmt.Errorf("%d tensors, want %d: one appears twice", len(tensors), len(layout))
	}
	return ordered, nil
}

// configOf is the content of config.json. Fields that moved between versions 4 and
// 5 of transformers are written in both places.
func configOf(cfg kernels.Config, options Options) any {
	name := "float32"
	if options.DType == BF16 {
		name = "bfloat16"
	}
	type rope struct {
		Theta float64 `json:"rope_theta"`
		Type  string  `json:"rope_type"`
	}
	type shape kernels.Config
	return struct {
		Architectures []string `json:"architectures"`
		ModelType     string   `json:"model_type"`
		shape
		RopeParameters   rope     `json:"rope_parameters"`
		HiddenAct        string   `json:"hidden_act"`
		AttentionBias    bool     `json:"attention_bias"`
		AttentionDropout float64  `json:"attention_dropout"`
		UseSlidingWindow bool     `json:"use_sliding_window"`
		SlidingWindow    *int     `json:"sliding_window"`
		LayerTypes       []string `json:"layer_types"`
		UseCache         bool     `json:"use_cache"`
		DType            string   `json:"dtype"`
		TorchDType       string   `json:"torch_dtype"`
		BOS              *int32   `json:"bos_token_id"`
		EOS              []int32  `json:"eos_token_id"`
		Pad              int32    `json:"pad_token_id"`
	}{
		Architectures:  []string{architecture},
		ModelType:      "qwen3",
		shape:          shape(cfg),
		RopeParameters: rope{cfg.RopeTheta, "default"},
		HiddenAct:      "silu",
		LayerTypes:     slices.Repeat([]string{"full_attention"}, cfg.NumHiddenLayers),
		UseCache:       true,
		DType:          name,
		TorchDType:     name,
		EOS:            options.Stop,
		Pad:            options.Pad,
	}
}

// generationOf is the content of generation_config.json: the distribution that
// the policy was trained to sample from, with nothing cut off.
func generationOf(options Options) any {
	return struct {
		DoSample    bool    `json:"do_sample"`
		Temperature float64 `json:"temperature"`
		TopK        int     `json:"top_k"`
		TopP        float64 `json:"top_p"`
		EOS         []int32 `json:"eos_token_id"`
		Pad         int32   `json:"pad_token_id"`
	}{true, 1, 0, 1, options.Stop, options.Pad}
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(append(data, '\n'))
		return err
	})
}
