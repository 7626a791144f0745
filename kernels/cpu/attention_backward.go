package cpu

import (
	"millrace/kernels/cpu/gemm"
	"millrace/kernels/cpu/vec"
)

// backward turns the gradient of out into the gradient of qkv, for the task's
// rows and heads, and adds the norm weights' gradients to dQNorm and dKNorm
// [D]. Probabilities are recomputed from the saved log-sum-exp:
//
//	P  = exp(S - lse)           S = q k^T, q scaled
//	dV = P^T dO                 dP = dO V^T
//	dS = P * (dP - delta)       delta = sum(dO*O) by row
//	dq = dS k, dk = dS^T q
//
// A query tile visits key blocks in order, tiles follow each other in order,
// and heads of the group too: that fixes the order of every sum.
func (a *attentionTask) backward(w *attentionScratch, dOut, dQKV, dQNorm, dKNorm []float32) {
	a.gather(w)
	s, d, n := a.s, a.s.headDim, a.to-a.from
	padded := len(w.blocks) * keyBlock
	w.keys = grow(w.keys, padded*d)
	w.values = grow(w.values, padded*d)
	w.dKeys = grow(w.dKeys, padded*d)
	w.dValues = grow(w.dValues, padded*d)
	clear(w.dKeys)
	clear(w.dValues)
	for p := range n {
		block, slot := w.blocks[p/keyBlock], p%keyBlock
		for i := range d {
			w.keys[p*d+i] = block[i*keyBlock+slot]
			w.values[p/keyBlock*keyBlock*d+i*keyBlock+slot] = block[(keyBlock+slot)*d+i]
		}
	}
	for g := range s.group {
		h := a.kv*s.group + g
		for p := 0; p < n; p += keyBlock {
			rows := min(keyBlock, n-p)
			a.queries(w, h, p, rows)
			a.backwardTile(w, dOut, h, p, rows)
			for r := range rows {
				dq := w.dQuery[r*d : (r+1)*d]
				vec.Scale(s.attentionScale, dq)
				a.rope.rotateBack(dq, p+r)
				t := a.from + p + r
				raw := a.row(t)[h*d : (h+1)*d]
				vec.RMSNormBackward(dQKV[t*s.qkvWidth+h*d:][:d], dQNorm, dq, raw, a.qNorm, s.normFactor(raw))
			}
		}
	}
	for p := range n {
		t := a.from + p
		dk := w.dKeys[p*d : (p+1)*d]
		a.rope.rotateBack(dk, p)
		at := s.keyOffset + a.kv*d
		raw := a.row(t)[at : at+d]
		vec.RMSNormBackward(dQKV[t*s.qkvWidth+at:][:d], dKNorm, dk, raw, a.kNorm, s.normFactor(raw))
		at = s.valueOffset + a.kv*d
		copy(dQKV[t*s.qkvWidth+at:][:d], w.dValues[p*d:(p+1)*d])
	}
}

// backwardTile handles the queries of head h at positions [p, p+rows), which
// are in the tile: it sets dQuery and adds to dKeys and dValues.
func (a *attentionTask) backwardTile(w *attentionScratch, dOut []float32, h, p, rows int) {
	s, d := a.s, a.s.headDim
	for r := range rows {
		at := (a.from+p+r)*s.outWidth + h*d
		copy(w.dOut[r*d:(r+1)*d], dOut[at:at+d])
		w.delta[r] = vec.Dot(dOut[at:at+d], a.out[at:at+d])
	}
	clear(w.dQuery[:rows*d])
	for b := range p/keyBlock + 1 {
		probs := w.tile.scores
		gemm.Gemm(false, false, rows, keyBlock, d, w.tile.q, d, w.blocks[b], keyBlock, probs, keyBlock, false)
		gemm.Gemm(false, false, rows, keyBlock, d, w.dOut, d, w.values[b*keyBlock*d:], keyBlock, w.dScores, keyBlock, false)
		seen := 0
		for r := range rows {
			v := visible(p+r, b)
			seen = max(seen, v)
			probRow, dRow := probs[r*keyBlock:(r+1)*keyBlock], w.dScores[r*keyBlock:(r+1)*keyBlock]
			softmaxGradRow(probRow, dRow, v, a.lse[(a.from+p+r)*s.heads+h], w.delta[r])
		}
		at := b * keyBlock * d
		gemm.Gemm(true, false, seen, d, rows, probs, keyBlock, w.dOut, d, w.dValues[at:], d, true)
		gemm.Gemm(true, false, seen, d, rows, w.dScores, keyBlock, w.tile.q, d, w.dKeys[at:], d, true)
		gemm.Gemm(false, false, rows, d, seen, w.dScores, keyBlock, w.keys[at:], d, w.dQuery, d, true)
	}
}
