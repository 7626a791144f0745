package checkpoint

import (
	"fmt"

	"millrace/kernels"
)

// Shape is the name and the shape of one parameter.
type Shape struct {
	Name  string
	Shape []int
}

const (
	embedding = "model.embed_tokens.weight"
	head      = "lm_head.weight"
)

// Layout lists the parameters of a model in the order of the computation, with
// the names and shapes of transformers' Qwen3ForCausalLM. With tied embeddings
// there is no lm_head.
func Layout(cfg kernels.Config) []Shape {
	hidden, inner := cfg.HiddenSize, cfg.IntermediateSize
	queries, keys := cfg.NumAttentionHeads*cfg.HeadDim, cfg.NumKeyValueHeads*cfg.HeadDim
	layout := []Shape{{embedding, []int{cfg.VocabSize, hidden}}}
	for i := range cfg.NumHiddenLayers {
		for _, p := range []Shape{
			{"input_layernorm", []int{hidden}},
			{"self_attn.q_proj", []int{queries, hidden}},
			{"self_attn.k_proj", []int{keys, hidden}},
			{"self_attn.v_proj", []int{keys, hidden}},
			{"self_attn.q_norm", []int{cfg.HeadDim}},
			{"self_attn.k_norm", []int{cfg.HeadDim}},
			{"self_attn.o_proj", []int{hidden, queries}},
			{"post_attention_layernorm", []int{hidden}},
			{"mlp.gate_proj", []int{inner, hidden}},
			{"mlp.up_proj", []int{inner, hidden}},
			{"mlp.down_proj", []int{hidden, inner}},
		} {
			layout = append(layout, Shape{fmt.Sprintf("model.layers.%d.%s.weight", i, p.Name), p.Shape})
		}
	}
	layout = append(layout, Shape{"model.norm.weight", []int{hidden}})
	if !cfg.TieWordEmbeddings {
		layout = append(layout, Shape{head, []int{cfg.VocabSize, hidden}})
	}
	return layout
}
