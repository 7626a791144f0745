package checkpoint

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"millrace/kernels"
)

// version4 is the form of Qwen3-0.6B's published config.json, version5 what
// transformers 5 makes of it.
const (
	version4 = `{
  "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "bos_token_id": 151643, "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu",
  "hidden_size": 1024, "initializer_range": 0.02, "intermediate_size": 3072,
  "max_position_embeddings": 40960, "max_window_layers": 28, "model_type": "qwen3",
  "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8,
  "rms_norm_eps": 1e-06, "rope_scaling": null, "rope_theta": 1000000, "sliding_window": null,
  "tie_word_embeddings": true, "torch_dtype": "bfloat16", "transformers_version": "4.51.0",
  "use_cache": true, "use_sliding_window": false, "vocab_size": 151936}`
	version5 = `{
  "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "bos_token_id": 151643, "dtype": "bfloat16", "eos_token_id": 151645, "head_dim": 128, "hidden_act": "silu",
  "hidden_size": 1024, "intermediate_size": 3072, "layer_types": ["full_attention", "full_attention"],
  "max_position_embeddings": 40960, "model_type": "qwen3", "num_attention_heads": 16, "num_hidden_layers": 28,
  "num_key_value_heads": 8, "pad_token_id": null, "rms_norm_eps": 1e-06,
  "rope_parameters": {"rope_theta": 1000000.0, "rope_type": "default"}, "sliding_window": null,
  "tie_word_embeddings": true, "use_cache": true, "use_sliding_window": false, "vocab_size": 151936}`
)

func TestParseConfig(t *testing.T) {
	want := kernels.Config{VocabSize: 151936, HiddenSize: 1024, IntermediateSize: 3072, NumHiddenLayers: 28, NumAttentionHeads: 16,
		NumKeyValueHeads: 8, HeadDim: 128, MaxPositionEmbeddings: 40960, RMSNormEps: 1e-6, RopeTheta: 1e6, TieWordEmbeddings: true}
	for name, text := range map[string]string{"version 4": version4, "version 5": version5} {
		if got, err := ParseConfig([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
}

func TestParseConfigRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"Qwen3ForCausalLM"`, `"LlamaForCausalLM"`, `architectures is ["LlamaForCausalLM"] (model_type "qwen3"), want ["Qwen3ForCausalLM"]`},
		{`"architectures"`, `"x"`, `architectures is []`},
		{`"hidden_size": 1024, `, ``, "hidden_size is missing"},
		{`"hidden_size": 1024`, `"hidden_size": 0`, "hidden_size is 0, want 1 to 65536"},
		{`"hidden_size": 1024`, `"hidden_size": "1024"`, "hidden_size"},
		{`"num_hidden_layers": 28`, `"num_hidden_layers": 1000000000`, "num_hidden_layers is 1000000000"},
		{`"num_key_value_heads": 8`, `"num_key_value_heads": 3`, "num_attention_heads is 16, want a multiple of num_key_value_heads 3"},
		{`"head_dim": 128`, `"head_dim": 127`, "head_dim is 127, want an even number"},
		{`"rms_norm_eps": 1e-06`, `"rms_norm_eps": 0`, "rms_norm_eps is 0"},
		{`"rms_norm_eps": 1e-06, `, ``, "rms_norm_eps is missing"},
		{`"rope_theta": 1000000, `, ``, "rope_theta and rope_parameters.rope_theta are missing"},
		{`"rope_theta": 1000000`, `"rope_theta": 1000000, "rope_parameters": {"rope_theta": 10000}`, "rope_theta is 1e+06, but rope_parameters.rope_theta 10000"},
		{`"rope_theta": 1000000`, `"rope_theta": 0.5`, "rope_theta is 0.5"},
		{`"rope_scaling": null`, `"rope_scaling": {"type": "yarn", "factor": 4.0}`, `rope_scaling.rope_type is "yarn"`},
		{`"rope_scaling": null`, `"rope_parameters": {"rope_type": "linear"}`, `rope_parameters.rope_type is "linear"`},
		{`"silu"`, `"gelu"`, `hidden_act is "gelu"`},
		{`"attention_bias": false`, `"attention_bias": true`, "attention_bias is true"},
		{`"use_sliding_window": false`, `"use_sliding_window": true`, "use_sliding_window is true"},
		{`"use_cache": true`, `"layer_types": ["full_attention", "sliding_attention"]`, `layer_types[1] is "sliding_attention"`},
		{`"use_cache": true`, `"quantization_config": {"bits": 4}`, "quantization_config is set"},
		{`}`, ``, "unexpected end"},
	} {
		text := strings.Replace(version4, c.old, c.new, 1)
		if text == version4 {
			t.Fatalf("the configuration has no %s", c.old)
		}
		if _, err := ParseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
}

// FuzzParseConfig: no input crashes; what is accepted is valid, its layout is
// finite, and it is read back the same from what Save writes.
func FuzzParseConfig(f *testing.F) {
	f.Add([]byte(version4))
	f.Add([]byte(version5))
	f.Add([]byte(`{"architectures": ["Qwen3ForCausalLM"], "rope_parameters": null, "layer_types": [null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := ParseConfig(data)
		if err != nil {
			return
		}
		for _, s := range Layout(cfg) {
			elements := 4.0
			for _, n := range s.Shape {
				elements *= float64(n)
			}
			if elements <= 0 || elements > math.MaxInt64/2 {
				t.Fatalf("%s has shape %v", s.Name, s.Shape)
			}
		}
		written, err := json.Marshal(configOf(cfg, Options{DType: F32}))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseConfig(written); err != nil || again != cfg {
			t.Fatalf("%+v became %+v, %v", cfg, again, err)
		}
	})
}

// FuzzParseIndex: no input crashes; every shard is a file beside the index.
func FuzzParseIndex(f *testing.F) {
	f.Add([]byte(`{"metadata": {"total_size": 8}, "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}`))
	f.Add([]byte(`{"weight_map": {"a": "../x.safetensors"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		shards, err := parseIndex(data)
		if err != nil {
			return
		}
		for _, s := range shards {
			if strings.ContainsAny(s.name, `/`) || s.name == ".." || len(s.tensors) == 0 {
				t.Fatalf("shard %q of %d tensors", s.name, len(s.tensors))
			}
		}
	})
}
