package cpu

import (
	"context"

	"millrace/kernels/cpu/gemm"
	"millrace/kernels/cpu/gemm/workers"
	"millrace/kernels/cpu/vec"
)

// model is the network over packs: forward keeps what backward needs.
type model struct {
	shape
	weights *params
	rope    *rope

	acts      activations
	normed    []float32           // [T,C] scratch
	wide      []float32           // [T,I] scratch
	attention []*attentionScratch // one a worker
}

func newModel(s shape, weights *params, r *rope) *model {
	return &model{shape: s, weights: weights, rope: r}
}

// forward runs the layers over the pack; the result is acts.last, before the
// final norm.
func (m *model) forward(ctx context.Context, p *pack) error {
	n := len(p.tokens)
	m.rope.ensure(p.longest)
	m.acts.reserve(&m.shape, n)
	m.normed = grow(m.normed, n*m.hidden)
	m.wide = grow(m.wide, n*m.inter)
	for len(m.attention) < workers.Threads() {
		m.attention = append(m.attention, newAttentionScratch(&m.shape))
	}

	for t, id := range p.tokens {
		copy(m.acts.layers[0].in[t*m.hidden:(t+1)*m.hidden], m.weights.embed[int(id)*m.hidden:])
	}
	for i := range m.acts.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, w := &m.acts.layers[i], &m.weights.layers[i]
		out := m.acts.last
		if i+1 < len(m.acts.layers) {
			out = m.acts.layers[i+1].in
		}

		m.normRows(m.normed, a.inScale, a.in, w.inputNorm, n)
		gemm.Gemm(false, true, n, m.qkvWidth, m.hidden, m.normed, m.hidden, w.qkv, m.hidden, a.qkv, m.qkvWidth, false)
		m.attend(p, a, w)
		copy(a.mid, a.in)
		gemm.Gemm(false, true, n, m.hidden, m.outWidth, a.out, m.outWidth, w.out, m.outWidth, a.mid, m.hidden, true)

		m.normRows(m.normed, a.midScale, a.mid, w.postNorm, n)
		gemm.Gemm(false, true, n, 2*m.inter, m.hidden, m.normed, m.hidden, w.gateUp, m.hidden, a.gateUp, 2*m.inter, false)
		m.activate(m.wide, a.gateUp, n)
		copy(out, a.mid)
		gemm.Gemm(false, true, n, m.hidden, m.inter, m.wide, m.inter, w.down, m.inter, out, m.hidden, true)
	}
	return nil
}

// normRows norms n rows of width C and keeps their factors.
func (m *model) normRows(dst, factors, x, w []float32, n int) {
	c := m.hidden
	parallelRows(n, func(_, from, to int) {
		for t := from; t < to; t++ {
			factors[t] = vec.RMSNorm(dst[t*c:(t+1)*c], x[t*c:(t+1)*c], w, m.eps)
		}
	})
}

// renormRows is normRows with the factors known, to the same bits.
func (m *model) renormRows(dst, x, w []float32, n int) {
	c := m.hidden
	parallelRows(n, func(_, from, to int) {
		for t := from; t < to; t++ {
			vec.RMSNorm(dst[t*c:(t+1)*c], x[t*c:(t+1)*c], w, m.eps)
		}
	})
}

// activate is the gated activation of n rows [gate | up].
func (m *model) activate(dst, gateUp []float32, n int) {
	i := m.inter
	parallelRows(n, func(_, from, to int) {
		for t := from; t < to; t++ {
			row := gateUp[t*2*i : (t+1)*2*i]
			vec.SiLUGate(dst[t*i:(t+1)*i], row[:i], row[i:])
		}
	})
}

// attend runs attention of every sequence and kv head.
func (m *model) attend(p *pack, a *layerActivations, w *layerParams) {
	workers.Run(len(p.sequences)*m.kvHeads, func(worker, i int) {
		task := m.task(p, a, w, i)
		task.forward(m.attention[worker])
	})
}

func (m *model) task(p *pack, a *layerActivations, w *layerParams, i int) attentionTask {
	sequence := i / m.kvHeads
	return attentionTask{
		s: &m.shape, rope: m.rope, qNorm: w.qNorm, kNorm: w.kNorm,
		qkv: a.qkv, out: a.out, lse: a.lse,
		from: p.start[sequence], to: p.start[sequence+1], kv: i % m.kvHeads,
	}
}
