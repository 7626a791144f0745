package cpu

// activations are what the forward pass of one pack leaves for the backward
// pass: per token and layer 2C + (H+2K)D + H*D + H + 2I + 2 floats. Norms and the gated activation are
// computed again instead of kept.
type activations struct {
	layers []layerActivations
	last   []float32 // [T,C] residual stream after the last layer
}

type layerActivations struct {
	in       []float32 // [T,C] residual stream before the layer
	inScale  []float32 // [T] factor of the first norm
	qkv      []float32 // [T,(H+2K)D] before head norm and rotation
	out      []float32 // [T,H*D] attention output
	lse      []float32 // [T,H] log-sum-exp of attention scores
	mid      []float32 // [T,C] residual stream between attention and MLP
	midScale []float32 // [T] factor of the second norm
	gateUp   []float32 // [T,2I]
}

// reserve makes room for tokens.
func (a *activations) reserve(s *shape, tokens int) {
	if a.layers == nil {
		a.layers = make([]layerActivations, s.layers)
	}
	for i := range a.layers {
		l := &a.layers[i]
		l.in = grow(l.in, tokens*s.hidden)
		l.inScale = grow(l.inScale, tokens)
		l.qkv = grow(l.qkv, tokens*s.qkvWidth)
		l.out = grow(l.out, tokens*s.outWidth)
		l.lse = grow(l.lse, tokens*s.heads)
		l.mid = grow(l.mid, tokens*s.hidden)
		l.midScale = grow(l.midScale, tokens)
		l.gateUp = grow(l.gateUp, tokens*2*s.inter)
	}
	a.last = grow(a.last, tokens*s.hidden)
}
