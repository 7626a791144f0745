package cpu

import (
	"millrace/kernels/cpu/gemm"
)

// packedWeights are the weights of one policy version as decoding reads them:
// every matrix laid out for the product once, not in each.
type packedWeights struct {
	version int64
	embed   []float32 // [V,C]
	layers  []packedLayer
	norm    []float32
	head    *gemm.Packed
}

type packedLayer struct {
	inputNorm, qNorm, kNorm, postNorm []float32
	qkv, out, gateUp, down            *gemm.Packed
}

// packWeights keeps p's vectors and embedding: p must not change afterwards.
func packWeights(s *shape, p *params, version int64) *packedWeights {
	pack := func(rows, cols int, w []float32) *gemm.Packed { return gemm.Pack(true, rows, cols, w, cols) }
	w := &packedWeights{version: version, embed: p.embed, norm: p.norm, head: pack(s.vocab, s.hidden, p.head)}
	for i := range p.layers {
		l := &p.layers[i]
		w.layers = append(w.layers, packedLayer{
			inputNorm: l.inputNorm, qNorm: l.qNorm, kNorm: l.kNorm, postNorm: l.postNorm,
			qkv:    pack(s.qkvWidth, s.hidden, l.qkv),
			out:    pack(s.hidden, s.outWidth, l.out),
			gateUp: pack(2*s.inter, s.hidden, l.gateUp),
			down:   pack(s.hidden, s.inter, l.down),
		})
	}
	return w
}
