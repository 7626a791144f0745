package cpu

import (
	"math"

	"millrace/kernels"
	"millrace/kernels/cpu/gemm"
	"millrace/kernels/cpu/gemm/workers"
	"millrace/kernels/cpu/vec"
)

// headFloats bounds the logits in memory at a time: 16 MiB, so that a chunk of
// rows of a small vocabulary stays in the cache between the products that make
// and use it. It decides the number of rows in a chunk and with it the order of
// summation, so it is a constant.
const headFloats = 4 << 20

// minHeadRows keeps the head a matrix product at the largest vocabularies.
const minHeadRows = 32

// target is a row of the head: the token at position row+1 of the pack is
// predicted from row.
type target struct {
	row         int
	token       int32
	sequence    int // of the pack
	prediction  prediction
	denominator float64 // of its loss
	result      tokenLoss
}

// head is the final norm, the projection on the vocabulary and the loss, for
// chosen rows, a chunk at a time.
type head struct {
	rows   int
	x      []float32 // [rows,C] gathered residual stream
	normed []float32 // [rows,C]
	factor []float32 // [rows]
	logits []float32 // [rows,V]
	probs  []float32 // [workers,V]
	d      []float32 // [rows,C]
}

func newHead(s *shape) *head {
	return &head{rows: max(minHeadRows, min(512, headFloats/s.vocab))}
}

// project computes the logits of the targets, at most h.rows of them, divided
// by temperature.
func (h *head) project(m *model, targets []target, temperature float64) {
	n, c, v := len(targets), m.hidden, m.vocab
	h.x = grow(h.x, n*c)
	h.normed = grow(h.normed, n*c)
	h.factor = grow(h.factor, n)
	h.logits = grow(h.logits, n*v)
	for r, t := range targets {
		copy(h.x[r*c:(r+1)*c], m.acts.last[t.row*c:(t.row+1)*c])
	}
	m.normRows(h.normed, h.factor, h.x, m.weights.norm, n)
	gemm.Gemm(false, true, n, v, c, h.normed, c, m.weights.head, c, h.logits, v, false)
	if temperature != 1 {
		parallelRows(n, func(_, from, to int) {
			vec.Scale(float32(1/temperature), h.logits[from*v:to*v])
		})
	}
}

// logProbs sets the log-probability of every target.
func (h *head) logProbs(m *model, targets []target, temperature float64) {
	for at := 0; at < len(targets); at += h.rows {
		part := targets[at:min(len(targets), at+h.rows)]
		h.project(m, part, temperature)
		parallelRows(len(part), func(_, from, to int) {
			for r := from; r < to; r++ {
				row := h.logits[r*m.vocab : (r+1)*m.vocab]
				part[r].prediction.logProb = float64(row[part[r].token] - vec.LogSumExp(row))
			}
		})
	}
}

// train sets log-probability, entropy and loss of every target, adds the
// gradients of head and final norm to g and writes that of the residual stream
// into the targets' rows of g.stream.
func (h *head) train(m *model, g *gradients, targets []target, l *kernels.Loss, temperature float64) {
	c, v := m.hidden, m.vocab
	for at := 0; at < len(targets); at += h.rows {
		part := targets[at:min(len(targets), at+h.rows)]
		n := len(part)
		h.project(m, part, temperature)
		h.probs = grow(h.probs, workers.Threads()*v)
		workers.Run(n, func(worker, r int) {
			part[r].differentiate(h.logits[r*v:(r+1)*v], h.probs[worker*v:(worker+1)*v], l, temperature)
		})
		h.d = grow(h.d, n*c)
		gemm.Gemm(true, false, v, c, n, h.logits, v, h.normed, c, g.head, c, true)
		gemm.Gemm(false, false, n, c, v, h.logits, v, m.weights.head, c, h.d, c, false)
		g.partial = grow(g.partial, chunks(n)*c)
		clear(g.partial)
		parallelRows(n, func(chunk, from, to int) {
			partial := g.partial[chunk*c : (chunk+1)*c]
			for r := from; r < to; r++ {
				t := part[r].row
				vec.RMSNormBackward(g.stream[t*c:(t+1)*c], partial, h.d[r*c:(r+1)*c], h.x[r*c:(r+1)*c], m.weights.norm, h.factor[r])
			}
		})
		sumRows(g.norm, g.partial)
	}
}

// differentiate evaluates the loss of one row of tempered logits z and replaces
// them by the gradient of the untempered ones:
//
//	dz_j    = dLogProb*(1[j=token] - p_j) - dEntropy*p_j*(log p_j + entropy)
//	logit_j = temperature * z_j
//
// probs [V] is scratch.
func (t *target) differentiate(z, probs []float32, l *kernels.Loss, temperature float64) {
	lse := vec.Softmax(probs, z)
	t.prediction.logProb = float64(z[t.token] - lse)
	// -sum p*log p, with log p = z - lse.
	t.prediction.entropy = float64(lse - vec.Dot(probs, z))
	t.result = lossOf(l, t.prediction)

	by := 1 / (t.denominator * temperature)
	dLogProb, dEntropy := float32(t.result.dLogProb*by), float32(t.result.dEntropy*by)
	constant := dLogProb + dEntropy*(float32(t.prediction.entropy)-lse)
	for j, p := range probs {
		z[j] = -p * (constant + dEntropy*z[j])
	}
	z[t.token] += dLogProb
}

// none marks a log-probability that is not there.
var none = math.NaN()
