package cpu

import (
	"millrace/kernels/cpu/gemm"
	"millrace/kernels/cpu/gemm/workers"
	"millrace/kernels/cpu/vec"
)

// gradients is the memory of a backward pass.
type gradients struct {
	*params           // accumulated
	stream  []float32 // [T,C] gradient of the residual stream
	normed  []float32 // [T,C]
	wide    []float32 // [T,I]
	qkv     []float32 // [T,(H+2K)D]
	out     []float32 // [T,H*D]
	partial []float32 // norm weights' gradients by chunk or task
}

func (g *gradients) reserve(s *shape, tokens int) {
	g.stream = grow(g.stream, tokens*s.hidden)
	g.normed = grow(g.normed, tokens*s.hidden)
	g.wide = grow(g.wide, tokens*s.inter)
	g.qkv = grow(g.qkv, tokens*s.qkvWidth)
	g.out = grow(g.out, tokens*s.outWidth)
}

// backward adds the gradients of everything below the final norm to g, given
// in g.stream the gradient of acts.last. It spoils acts.
func (m *model) backward(p *pack, g *gradients) {
	n := len(p.tokens)
	c := m.hidden
	for i := len(m.acts.layers) - 1; i >= 0; i-- {
		a, w, dw := &m.acts.layers[i], &m.weights.layers[i], &g.layers[i]

		// MLP: out = mid + act(gateUp(norm(mid))) down^T
		m.activate(m.wide, a.gateUp, n)
		gemm.Gemm(true, false, c, m.inter, n, g.stream, c, m.wide, m.inter, dw.down, m.inter, true)
		gemm.Gemm(false, false, n, m.inter, c, g.stream, c, w.down, m.inter, g.wide, m.inter, false)
		m.activateBackward(a.gateUp, g.wide, n)
		m.renormRows(m.normed, a.mid, w.postNorm, n)
		gemm.Gemm(true, false, 2*m.inter, c, n, a.gateUp, 2*m.inter, m.normed, c, dw.gateUp, c, true)
		gemm.Gemm(false, false, n, c, 2*m.inter, a.gateUp, 2*m.inter, w.gateUp, c, g.normed, c, false)
		m.normBackward(g, a.mid, a.midScale, w.postNorm, dw.postNorm, n)

		// Attention: mid = in + attention(qkv(norm(in))) out^T
		gemm.Gemm(true, false, c, m.outWidth, n, g.stream, c, a.out, m.outWidth, dw.out, m.outWidth, true)
		gemm.Gemm(false, false, n, m.outWidth, c, g.stream, c, w.out, m.outWidth, g.out, m.outWidth, false)
		m.attendBackward(p, a, w, dw, g)
		m.renormRows(m.normed, a.in, w.inputNorm, n)
		gemm.Gemm(true, false, m.qkvWidth, c, n, g.qkv, m.qkvWidth, m.normed, c, dw.qkv, c, true)
		gemm.Gemm(false, false, n, c, m.qkvWidth, g.qkv, m.qkvWidth, w.qkv, c, g.normed, c, false)
		m.normBackward(g, a.in, a.inScale, w.inputNorm, dw.inputNorm, n)
	}
	for t, id := range p.tokens {
		vec.Axpy(1, g.stream[t*c:(t+1)*c], g.embed[int(id)*c:(int(id)+1)*c])
	}
}

// activateBackward replaces rows [gate | up] by their gradients.
func (m *model) activateBackward(gateUp, d []float32, n int) {
	i := m.inter
	parallelRows(n, func(_, from, to int) {
		for t := from; t < to; t++ {
			gate, up := gateUp[t*2*i:t*2*i+i], gateUp[t*2*i+i:(t+1)*2*i]
			vec.SiLUGateBackward(gate, up, gate, up, d[t*i:(t+1)*i])
		}
	})
}

// normBackward adds to g.stream the gradient of a norm's input x, given that of
// its output in g.normed, which it spoils, and to dw that of its weight.
func (m *model) normBackward(g *gradients, x, factors, w, dw []float32, n int) {
	c := m.hidden
	g.partial = grow(g.partial, chunks(n)*c)
	clear(g.partial)
	parallelRows(n, func(chunk, from, to int) {
		partial := g.partial[chunk*c : (chunk+1)*c]
		for t := from; t < to; t++ {
			d, stream := g.normed[t*c:(t+1)*c], g.stream[t*c:(t+1)*c]
			vec.RMSNormBackward(d, partial, d, x[t*c:(t+1)*c], w, factors[t])
			vec.Add(stream, stream, d)
		}
	})
	sumRows(dw, g.partial)
}

// attendBackward sets g.qkv from g.out.
func (m *model) attendBackward(p *pack, a *layerActivations, w *layerParams, dw *layerParams, g *gradients) {
	d, tasks := m.headDim, len(p.sequences)*m.kvHeads
	g.partial = grow(g.partial, tasks*2*d)
	clear(g.partial)
	dQNorm, dKNorm := g.partial[:tasks*d], g.partial[tasks*d:]
	workers.Run(tasks, func(worker, i int) {
		task := m.task(p, a, w, i)
		task.backward(m.attention[worker], g.out, g.qkv, dQNorm[i*d:(i+1)*d], dKNorm[i*d:(i+1)*d])
	})
	sumRows(dw.qNorm, dQNorm)
	sumRows(dw.kNorm, dKNorm)
}

// sumRows adds the rows of partial to dst, in order.
func sumRows(dst, partial []float32) {
	for at := 0; at < len(partial); at += len(dst) {
		vec.Axpy(1, partial[at:at+len(dst)], dst)
	}
}
