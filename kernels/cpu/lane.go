package cpu

import (
	"millrace/kernels/cpu/gemm"
	"millrace/kernels/cpu/vec"
)

// lane runs the network for a part of a tick's calls, from embedding to sampled
// tokens, on one goroutine. Rows never mix, so how calls are dealt to lanes
// does not show in the results.
type lane struct {
	*shape
	calls []*call
	rows  int // of all calls in this tick
	cost  int // of all calls in this tick, for dealing

	x, normed, qkv, out, gateUp, wide []float32 // [rows, ...]
	key                               []float32 // [D]
	tile                              *queryTile
	blocks                            [][]float32
	logits                            []float32 // [calls that sample, V]
	sampler                           sampler
}

func newLane(s *shape) *lane {
	return &lane{shape: s, key: make([]float32, s.headDim), tile: newQueryTile(max(keyBlock, s.group), s.headDim)}
}

// run takes every call of the lane one step further.
func (l *lane) run(w *packedWeights, r *rope) {
	n, c := l.rows, l.hidden
	l.x = grow(l.x, n*c)
	l.normed = grow(l.normed, n*c)
	l.qkv = grow(l.qkv, n*l.qkvWidth)
	l.out = grow(l.out, n*l.outWidth)
	l.gateUp = grow(l.gateUp, n*2*l.inter)
	l.wide = grow(l.wide, n*l.inter)

	row := 0
	for _, call := range l.calls {
		for _, id := range call.session.pending[:call.take] {
			copy(l.x[row*c:(row+1)*c], w.embed[int(id)*c:])
			row++
		}
	}
	for i := range w.layers {
		p := &w.layers[i]
		l.norm(p.inputNorm, n)
		gemm.GemmPacked(false, n, l.normed, c, p.qkv, l.qkv, l.qkvWidth, false)
		row := 0
		for _, call := range l.calls {
			l.attend(call, p, r, i, row)
			row += call.take
		}
		gemm.GemmPacked(false, n, l.out, l.outWidth, p.out, l.x, c, true)

		l.norm(p.postNorm, n)
		gemm.GemmPacked(false, n, l.normed, c, p.gateUp, l.gateUp, 2*l.inter, false)
		for t := range n {
			g := l.gateUp[t*2*l.inter : (t+1)*2*l.inter]
			vec.SiLUGate(l.wide[t*l.inter:(t+1)*l.inter], g[:l.inter], g[l.inter:])
		}
		gemm.GemmPacked(false, n, l.wide, l.inter, p.down, l.x, c, true)
	}
	l.sample(w)
}

func (l *lane) norm(w []float32, n int) {
	c := l.hidden
	for t := range n {
		vec.RMSNorm(l.normed[t*c:(t+1)*c], l.x[t*c:(t+1)*c], w, l.eps)
	}
}

// attend puts the call's new keys and values into its cache and computes
// attention of its rows, the first of which is row.
func (l *lane) attend(call *call, p *packedLayer, r *rope, layer, row int) {
	s, d, cached := l.shape, l.headDim, call.session.cached
	for kv := range s.kvHeads {
		l.blocks = l.blocks[:0]
		for _, page := range call.session.pages {
			l.blocks = append(l.blocks, page.block(s, layer, kv))
		}
		for t := range call.take {
			qkv := l.qkv[(row+t)*s.qkvWidth : (row+t+1)*s.qkvWidth]
			position := cached + t
			s.key(l.key, qkv, p.kNorm, r, kv, position)
			putKeyValue(l.blocks[position/keyBlock], position%keyBlock, l.key, s.value(qkv, kv))
		}
		// As many query rows as fit make one tile: all heads of the group for
		// several positions.
		perTile := len(l.tile.position) / s.group
		for from := 0; from < call.take; from += perTile {
			to := min(call.take, from+perTile)
			rows := 0
			for t := from; t < to; t++ {
				qkv := l.qkv[(row+t)*s.qkvWidth : (row+t+1)*s.qkvWidth]
				for g := range s.group {
					l.tile.position[rows] = cached + t
					s.query(l.tile.q[rows*d:(rows+1)*d], qkv, p.qNorm, r, kv*s.group+g, cached+t)
					rows++
				}
			}
			l.tile.attend(rows, l.blocks)
			rows = 0
			for t := from; t < to; t++ {
				for g := range s.group {
					at := (row+t)*s.outWidth + (kv*s.group+g)*d
					copy(l.out[at:at+d], l.tile.o[rows*d:(rows+1)*d])
					rows++
				}
			}
		}
	}
}

// sample draws a token for every call whose pending tokens are all in, and
// moves every call's session forward.
func (l *lane) sample(w *packedWeights) {
	c, v := l.hidden, l.vocab
	row, n := 0, 0
	for _, call := range l.calls {
		row += call.take
		if call.take == len(call.session.pending) {
			vec.RMSNorm(l.normed[n*c:(n+1)*c], l.x[(row-1)*c:row*c], w.norm, l.eps)
			n++
		}
	}
	l.logits = grow(l.logits, n*v)
	gemm.GemmPacked(false, n, l.normed, c, w.head, l.logits, v, false)
	n = 0
	for _, call := range l.calls {
		sampled := call.take == len(call.session.pending)
		call.session.advance(call.take)
		if !sampled {
			continue
		}
		token, logProb, err := l.sampler.draw(l.logits[n*v:(n+1)*v], &call.sampling, uniform(call.sampling.Seed, call.session.Len()))
		n++
		if err != nil {
			call.err = err
			continue
		}
		call.append(token, logProb, w.version)
	}
}
