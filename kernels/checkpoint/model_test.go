package checkpoint

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"millrace/kernels"
)

func tiny(tied bool) kernels.Config {
	return kernels.Config{VocabSize: 11, HiddenSize: 6, IntermediateSize: 10, NumHiddenLayers: 2, NumAttentionHeads: 4,
		NumKeyValueHeads: 2, HeadDim: 4, MaxPositionEmbeddings: 64, RMSNormEps: 1e-6, RopeTheta: 10000, TieWordEmbeddings: tied}
}

// weights makes tensors of the layout whose elements all differ.
func weights(cfg kernels.Config) []kernels.Tensor {
	var tensors []kernels.Tensor
	value := float32(0)
	for _, s := range Layout(cfg) {
		n := 1
		for _, d := range s.Shape {
			n *= d
		}
		data := make([]float32, n)
		for i := range data {
			value += 0.37
			data[i] = value
		}
		tensors = append(tensors, kernels.Tensor{Name: s.Name, Shape: s.Shape, Data: data})
	}
	return tensors
}

func equalTensors(a, b []kernels.Tensor) bool {
	return slices.EqualFunc(a, b, func(x, y kernels.Tensor) bool {
		return x.Name == y.Name && slices.Equal(x.Shape, y.Shape) && equalBits(x.Data, y.Data)
	})
}

var options = Options{DType: F32, Stop: []int32{9, 10}, Pad: 10}

func TestLayout(t *testing.T) {
	cfg := tiny(true)
	shapes := make(map[string][]int)
	for _, s := range Layout(cfg) {
		shapes[s.Name] = s.Shape
	}
	for name, want := range map[string][]int{
		"model.embed_tokens.weight":                      {11, 6},
		"model.layers.1.self_attn.q_proj.weight":         {16, 6}, // 4 heads x 4
		"model.layers.1.self_attn.k_proj.weight":         {8, 6},  // 2 heads x 4
		"model.layers.0.self_attn.v_proj.weight":         {8, 6},
		"model.layers.0.self_attn.o_proj.weight":         {6, 16},
		"model.layers.0.self_attn.k_norm.weight":         {4},
		"model.layers.0.mlp.down_proj.weight":            {6, 10},
		"model.layers.0.post_attention_layernorm.weight": {6},
		"model.norm.weight":                              {6},
	} {
		if !slices.Equal(shapes[name], want) {
			t.Errorf("%s has shape %v, want %v", name, shapes[name], want)
		}
	}
	if _, ok := shapes[head]; ok || len(shapes) != 2+2*11 {
		t.Errorf("tied: %d parameters, lm_head %v, want 24 and none", len(shapes), ok)
	}
	if untied := Layout(tiny(false)); untied[len(untied)-1].Name != head {
		t.Errorf("untied: the last parameter is %s, want %s", untied[len(untied)-1].Name, head)
	}
}

func TestSaveLoad(t *testing.T) {
	for _, tied := range []bool{true, false} {
		dir := t.TempDir()
		want := weights(tiny(tied))
		shuffled := slices.Clone(want)
		slices.Reverse(shuffled)
		if _, err := Save(dir, tiny(tied), shuffled, options); err != nil {
			t.Fatal(err)
		}
		cfg, got, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if cfg != tiny(tied) || !equalTensors(got, want) {
			t.Errorf("tied %v: read back %+v and %d tensors, not what was saved", tied, cfg, len(got))
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	all := weights(tiny(true))
	bad := slices.Clone(all)
	bad[3].Shape = []int{6, 8}
	for _, c := range []struct {
		tensors []kernels.Tensor
		want    string
	}{
		{all[1:], `tensor "model.embed_tokens.weight" is missing`},
		{append(slices.Clone(all), kernels.Tensor{Name: "x"}), `tensor "x" does not belong to the model`},
		{append(slices.Clone(all), all[0]), "25 tensors, want 24: one appears twice"},
		{bad, `tensor "model.layers.0.self_attn.k_proj.weight" has shape [6 8], want [8 6]`},
	} {
		dir := t.TempDir()
		_, err := Save(dir, tiny(true), c.tensors, options)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("error %v, want %q and the directory", err, c.want)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("the directory holds %v, %v, want nothing", files, err)
		}
	}
	if _, err := Save(t.TempDir(), kernels.Config{}, all, options); err == nil || !strings.Contains(err.Error(), "vocab_size is 0") {
		t.Errorf("error %v, want one about vocab_size", err)
	}
}

// saveShards writes a model as transformers does with several files.
func saveShards(t *testing.T, dir string, cfg kernels.Config, shards map[string][]kernels.Tensor) {
	t.Helper()
	weightMap := make(map[string]string)
	for file, tensors := range shards {
		if _, err := WriteTensors(filepath.Join(dir, file), tensors, F32, nil); err != nil {
			t.Fatal(err)
		}
		for _, tensor := range tensors {
			weightMap[tensor.Name] = file
		}
	}
	if err := writeJSON(filepath.Join(dir, configFile), configOf(cfg, options)); err != nil {
		t.Fatal(err)
	}
	if err := writeJSON(filepath.Join(dir, indexFile), map[string]any{"metadata": map[string]int{"total_size": 1}, "weight_map": weightMap}); err != nil {
		t.Fatal(err)
	}
}

func TestLoadShards(t *testing.T) {
	dir, cfg := t.TempDir(), tiny(true)
	want := weights(cfg)
	saveShards(t, dir, cfg, map[string][]kernels.Tensor{
		"model-00001-of-00002.safetensors": want[:7],
		"model-00002-of-00002.safetensors": want[7:],
	})
	if _, got, err := Load(dir); err != nil || !equalTensors(got, want) {
		t.Fatalf("read %d tensors, %v, not what was saved", len(got), err)
	}
	second := filepath.Join(dir, "model-00002-of-00002.safetensors")
	if _, err := WriteTensors(second, want[8:], F32, nil); err != nil {
		t.Fatal(err)
	}
	_, _, err := Load(dir)
	if err == nil || !strings.Contains(err.Error(), second) || !strings.Contains(err.Error(), `"`+want[7].Name+`" is missing`) {
		t.Errorf("error %v, want one that names %s and %s", err, second, want[7].Name)
	}
	if _, err := WriteTensors(second, append(slices.Clone(want[7:]), want[0]), F32, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), `"`+want[0].Name+`" is not listed`) {
		t.Errorf("error %v, want one that names %s", err, want[0].Name)
	}
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), second) {
		t.Errorf("error %v, want one that names %s", err, second)
	}
}

// TestTiedHead: a tied model may come with its head, if that equals the embedding.
func TestTiedHead(t *testing.T) {
	cfg := tiny(true)
	want := weights(cfg)
	dir := t.TempDir()
	spare := kernels.Tensor{Name: head, Shape: want[0].Shape, Data: slices.Clone(want[0].Data)}
	saveShards(t, dir, cfg, map[string][]kernels.Tensor{"a.safetensors": want, "b.safetensors": {spare}})
	if _, got, err := Load(dir); err != nil || !equalTensors(got, want) {
		t.Fatalf("read %d tensors, %v, want the model without its head", len(got), err)
	}
	spare.Data[5] = math.Nextafter32(spare.Data[5], 0)
	saveShards(t, dir, cfg, map[string][]kernels.Tensor{"a.safetensors": want, "b.safetensors": {spare}})
	if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), `b.safetensors: tensor "lm_head.weight" differs`) {
		t.Errorf("error %v, want one that says the head differs", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	cfg := tiny(false)
	all := weights(cfg)
	reshaped := slices.Clone(all)
	reshaped[5].Shape = []int{2, 2}
	for _, c := range []struct {
		name    string
		tensors []kernels.Tensor
		want    string
	}{
		{"missing", all[:len(all)-1], `tensor "lm_head.weight" is missing`},
		{"unknown", append(slices.Clone(all), kernels.Tensor{Name: "model.layers.2.x", Shape: []int{0}}), `tensor "model.layers.2.x" does not belong`},
		{"shape", reshaped, `tensor "model.layers.0.self_attn.q_norm.weight" has shape [2 2], want [4] by config.json`},
	} {
		dir := t.TempDir()
		if _, err := Save(dir, cfg, all, options); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, weightsFile)
		if _, err := WriteTensors(path, c.tensors, F32, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v, want %q and the directory", c.name, err, c.want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "has neither model.safetensors nor") {
			t.Errorf("no weights: error %v", err)
		}
	}
	if _, _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), configFile) {
		t.Errorf("empty directory: error %v, want one that names %s", err, configFile)
	}
}

// TestIndexStaysInDirectory: a hostile index cannot make us read other files.
func TestIndexStaysInDirectory(t *testing.T) {
	for _, file := range []string{"../a.safetensors", "/etc/a.safetensors", "x/a.safetensors", "..", ".", "", "a.bin"} {
		data, err := json.Marshal(map[string]map[string]string{"weight_map": {"t": file}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseIndex(data); err == nil || !strings.Contains(err.Error(), `tensor "t" is in`) {
			t.Errorf("%q: error %v", file, err)
		}
	}
}

// TestConfigWritten pins what readers of other versions look for.
func TestConfigWritten(t *testing.T) {
	dir := t.TempDir()
	bf16 := options
	bf16.DType = BF16
	if _, err := Save(dir, tiny(true), weights(tiny(true)), bf16); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		configFile: `{"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","vocab_size":11,"hidden_size":6,"intermediate_size":10,
			"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":4,"max_position_embeddings":64,
			"rms_norm_eps":1e-6,"rope_theta":10000,"tie_word_embeddings":true,"rope_parameters":{"rope_theta":10000,"rope_type":"default"},
			"hidden_act":"silu","attention_bias":false,"attention_dropout":0,"use_sliding_window":false,"sliding_window":null,
			"layer_types":["full_attention","full_attention"],"use_cache":true,"dtype":"bfloat16","torch_dtype":"bfloat16",
			"bos_token_id":null,"eos_token_id":[9,10],"pad_token_id":10}`,
		generationFile: `{"do_sample":true,"temperature":1,"top_k":0,"top_p":1,"eos_token_id":[9,10],"pad_token_id":10}`,
	} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := compact(t, string(data)), compact(t, want); !maps.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", file, got, want)
		}
	}
}

// compact maps the keys of a JSON object to the text of their values.
func compact(t *testing.T, text string) map[string]string {
	t.Helper()
	var values map[string]any
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for key, v := range values {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[key] = string(data)
	}
	return out
}
