package cpu

import (
	"errors"
	"fmt"
	"slices"

	"millrace/kernels"
)

// params names the parts of one flat arena. Weights, gradients and the two
// moments each are one params of the same layout, so the optimizer is a single
// loop over four arenas.
//
// Query, key and value projections lie next to each other and are one matrix
// to the arithmetic; so do gate and up.
type params struct {
	arena   []float32
	tensors []kernels.Tensor
	// decayed tells for each tensor whether weight decay applies: to matrices
	// only, not to norm weights.
	decayed []bool

	embed  []float32 // [V,C]
	layers []layerParams
	norm   []float32 // [C]
	head   []float32 // [V,C]; embed itself when tied
}

type layerParams struct {
	inputNorm []float32 // [C]
	qkv       []float32 // [(H+2K)D, C]
	qNorm     []float32 // [D]
	kNorm     []float32 // [D]
	out       []float32 // [C, H*D]
	postNorm  []float32 // [C]
	gateUp    []float32 // [2I, C]
	down      []float32 // [C, I]
}

// newParams lays a zeroed arena out for the model.
func newParams(cfg kernels.Config) *params {
	p := &params{layers: make([]layerParams, cfg.NumHiddenLayers)}
	c, d := cfg.HiddenSize, cfg.HeadDim
	q, kv := cfg.NumAttentionHeads*d, cfg.NumKeyValueHeads*d

	type slot struct {
		name  string
		shape []int
		part  *[]float32 // the first slot of a fused matrix carries it, the others nil
		fused int        // elements of the part; 0 means the slot's own
	}
	slots := []slot{{"model.embed_tokens.weight", []int{cfg.VocabSize, c}, &p.embed, 0}}
	for i := range p.layers {
		l := &p.layers[i]
		prefix := fmt.Sprintf("model.layers.%d.", i)
		slots = append(slots,
			slot{prefix + "input_layernorm.weight", []int{c}, &l.inputNorm, 0},
			slot{prefix + "self_attn.q_proj.weight", []int{q, c}, &l.qkv, (q + 2*kv) * c},
			slot{prefix + "self_attn.k_proj.weight", []int{kv, c}, nil, 0},
			slot{prefix + "self_attn.v_proj.weight", []int{kv, c}, nil, 0},
			slot{prefix + "self_attn.q_norm.weight", []int{d}, &l.qNorm, 0},
			slot{prefix + "self_attn.k_norm.weight", []int{d}, &l.kNorm, 0},
			slot{prefix + "self_attn.o_proj.weight", []int{c, q}, &l.out, 0},
			slot{prefix + "post_attention_layernorm.weight", []int{c}, &l.postNorm, 0},
			slot{prefix + "mlp.gate_proj.weight", []int{cfg.IntermediateSize, c}, &l.gateUp, 2 * cfg.IntermediateSize * c},
			slot{prefix + "mlp.up_proj.weight", []int{cfg.IntermediateSize, c}, nil, 0},
			slot{prefix + "mlp.down_proj.weight", []int{c, cfg.IntermediateSize}, &l.down, 0},
		)
	}
	slots = append(slots, slot{"model.norm.weight", []int{c}, &p.norm, 0})
	if !cfg.TieWordEmbeddings {
		slots = append(slots, slot{"lm_head.weight", []int{cfg.VocabSize, c}, &p.head, 0})
	}

	total := 0
	for _, s := range slots {
		total += elements(s.shape)
	}
	p.arena = make([]float32, total)
	offset := 0
	for _, s := range slots {
		n := elements(s.shape)
		p.tensors = append(p.tensors, kernels.Tensor{Name: s.name, Shape: s.shape, Data: p.arena[offset : offset+n : offset+n]})
		p.decayed = append(p.decayed, len(s.shape) > 1)
		if s.part != nil {
			size := max(n, s.fused)
			*s.part = p.arena[offset : offset+size : offset+size]
		}
		offset += n
	}
	if cfg.TieWordEmbeddings {
		p.head = p.embed
	}
	return p
}

func elements(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// load copies tensors into the arena. Every tensor of the model must be there
// once with its shape, and no other. prefix is put before the model's names.
// On an error the arena is unchanged.
func (p *params) load(prefix string, tensors []kernels.Tensor) error {
	byName := make(map[string]kernels.Tensor, len(tensors))
	for _, t := range tensors {
		if _, twice := byName[t.Name]; twice {
			return fmt.Errorf("tensor %s given twice", t.Name)
		}
		byName[t.Name] = t
	}
	for _, want := range p.tensors {
		name := prefix + want.Name
		got, ok := byName[name]
		if !ok {
			return fmt.Errorf("tensor %s is missing", name)
		}
		if !slices.Equal(got.Shape, want.Shape) || len(got.Data) != len(want.Data) {
			return fmt.Errorf("tensor %s has shape %v and %d elements, the model needs %v", name, got.Shape, len(got.Data), want.Shape)
		}
		delete(byName, name)
	}
	for name := range byName {
		return fmt.Errorf("tensor %s is no part of the model", name)
	}
	for _, t := range tensors {
		i := slices.IndexFunc(p.tensors, func(w kernels.Tensor) bool { return prefix+w.Name == t.Name })
		copy(p.tensors[i].Data, t.Data)
	}
	return nil
}

// validate reports everything in the shape that the arithmetic cannot serve.
func validate(cfg kernels.Config) error {
	var errs []error
	positive := func(name string, n int) {
		if n <= 0 {
			errs = append(errs, fmt.Errorf("%s is %d, must be positive", name, n))
		}
	}
	positive("vocab_size", cfg.VocabSize)
	positive("hidden_size", cfg.HiddenSize)
	positive("intermediate_size", cfg.IntermediateSize)
	positive("num_hidden_layers", cfg.NumHiddenLayers)
	positive("num_attention_heads", cfg.NumAttentionHeads)
	positive("num_key_value_heads", cfg.NumKeyValueHeads)
	positive("head_dim", cfg.HeadDim)
	positive("max_position_embeddings", cfg.MaxPositionEmbeddings)
	if cfg.NumKeyValueHeads > 0 && cfg.NumAttentionHeads%cfg.NumKeyValueHeads != 0 {
		errs = append(errs, fmt.Errorf("num_attention_heads %d is no multiple of num_key_value_heads %d", cfg.NumAttentionHeads, cfg.NumKeyValueHeads))
	}
	if cfg.HeadDim%2 != 0 {
		errs = append(errs, fmt.Errorf("head_dim %d is odd, RoPE needs pairs", cfg.HeadDim))
	}
	if !(cfg.RMSNormEps > 0) {
		errs = append(errs, fmt.Errorf("rms_norm_eps is %v, must be positive", cfg.RMSNormEps))
	}
	if !(cfg.RopeTheta > 0) {
		errs = append(errs, fmt.Errorf("rope_theta is %v, must be positive", cfg.RopeTheta))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("model configuration: %w", err)
	}
	return nil
}
