package cpu

import (
	"math"

	"millrace/kernels"
	"millrace/kernels/cpu/vec"
)

// shape is what the arithmetic needs to know of a Config.
type shape struct {
	vocab, hidden, inter     int
	heads, kvHeads, headDim  int
	group                    int // query heads a kv head serves
	qkvWidth, outWidth       int // (H+2K)D and H*D
	keyOffset, valueOffset   int // of the keys and values in a row of qkv
	eps, attentionScale      float32
	layers, maximumPositions int
}

func newShape(cfg kernels.Config) shape {
	s := shape{
		vocab: cfg.VocabSize, hidden: cfg.HiddenSize, inter: cfg.IntermediateSize,
		heads: cfg.NumAttentionHeads, kvHeads: cfg.NumKeyValueHeads, headDim: cfg.HeadDim,
		group:            cfg.NumAttentionHeads / cfg.NumKeyValueHeads,
		eps:              float32(cfg.RMSNormEps),
		attentionScale:   float32(1 / math.Sqrt(float64(cfg.HeadDim))),
		layers:           cfg.NumHiddenLayers,
		maximumPositions: cfg.MaxPositionEmbeddings,
	}
	s.outWidth = s.heads * s.headDim
	s.keyOffset = s.outWidth
	s.valueOffset = s.keyOffset + s.kvHeads*s.headDim
	s.qkvWidth = s.valueOffset + s.kvHeads*s.headDim
	return s
}

// query writes head h of a row of qkv, normed, rotated and scaled, into dst [D].
func (s *shape) query(dst, qkv, norm []float32, r *rope, h, position int) {
	vec.RMSNorm(dst[:s.headDim], qkv[h*s.headDim:(h+1)*s.headDim], norm, s.eps)
	r.rotate(dst[:s.headDim], position)
	vec.Scale(s.attentionScale, dst[:s.headDim])
}

// key writes kv head g of a row of qkv, normed and rotated, into dst [D].
func (s *shape) key(dst, qkv, norm []float32, r *rope, g, position int) {
	at := s.keyOffset + g*s.headDim
	vec.RMSNorm(dst[:s.headDim], qkv[at:at+s.headDim], norm, s.eps)
	r.rotate(dst[:s.headDim], position)
}

// value is kv head g's value in a row of qkv.
func (s *shape) value(qkv []float32, g int) []float32 {
	at := s.valueOffset + g*s.headDim
	return qkv[at : at+s.headDim]
}

// normFactor is the factor vec.RMSNorm returned for x.
func (s *shape) normFactor(x []float32) float32 {
	return float32(1 / math.Sqrt(vec.SumSquares(x)/float64(len(x))+float64(s.eps)))
}
