package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"millrace/kernels"
	"millrace/kernels/kernelstest"
)

// gradientTolerance bounds the distance of a float32 derivative in a direction
// of length 1 from the float64 one, relative to the gradient's length. float32
// rounds at 6e-8; a derivative is the end of some hundred dependent roundings,
// hence 1e-5. A direction of length 1 among n parameters picks up 1/sqrt(n) of
// a gradient, here 1/25 or more, so a wrong term is a thousand times larger.
const gradientTolerance = 1e-5

// TestGradients compares, for every tensor and every kind of loss, the gradient
// with the central difference of the float64 twin in a random direction.
func TestGradients(t *testing.T) {
	losses := map[string]kernels.Loss{
		"supervised":      {Supervised: true, Divisor: 7},
		"ratio":           {Divisor: 7},
		"clipped":         {ClipLow: 0.2, ClipHigh: 0.28, Divisor: 7},
		"kl":              {ClipLow: 0.2, ClipHigh: 0.2, KLCoefficient: 0.3, Divisor: 7},
		"entropy":         {EntropyCoefficient: 0.3, Divisor: 7},
		"dual-clip":       {ClipLow: 0.2, ClipHigh: 0.28, DualClip: 1.1, Divisor: 7},
		"free-below":      {ClipLow: 10, ClipHigh: 0.1, Divisor: 7},
		"sequence-ratio":  {ClipLow: 0.02, ClipHigh: 0.03, SequenceRatio: true, PerSequenceMean: true, Divisor: 3},
		"free-sequence":   {SequenceRatio: true, PerSequenceMean: true, Divisor: 3},
		"clipped-weight":  {ClipLow: 10, ClipHigh: 0.2, ClippedWeight: true, Divisor: 7},
		"sequence-weight": {ClipLow: 0.02, ClipHigh: 0.03, SequenceRatio: true, ClippedWeight: true, Divisor: 7},
		"truncated-is":    {TruncatedIS: 1.1, Divisor: 7},
		"idle-clip":       {ClipLow: 0.2, ClipHigh: 0.28, DualClip: 3, TruncatedIS: 1.1, Divisor: 7},
		"temperature":     {ClipLow: 0.2, ClipHigh: 0.28, Temperature: 0.7, Divisor: 7},
		"sequence-mean":   {ClipLow: 0.2, ClipHigh: 0.28, PerSequenceMean: true, Divisor: 3},
		"all-together":    {ClipLow: 0.1, ClipHigh: 0.3, KLCoefficient: 0.1, EntropyCoefficient: 0.1, DualClip: 1.5, SequenceRatio: true, Temperature: 1.3, PerSequenceMean: true, Divisor: 3},
		"supervised-all":  {Supervised: true, KLCoefficient: 0.1, EntropyCoefficient: 0.1, Temperature: 0.8, Divisor: 9},
	}
	for name, loss := range losses {
		for _, tied := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/tied=%v", name, tied), func(t *testing.T) {
				lengths := []int{9, 2, 6}
				if name == "all-together" {
					lengths = []int{9, 70} // across key blocks
				}
				testGradient(t, tied, loss, lengths, false)
			})
		}
	}
	t.Run("on-policy", func(t *testing.T) { testGradient(t, true, losses["clipped"], []int{9, 6}, true) })
}

func testGradient(t *testing.T, tied bool, loss kernels.Loss, lengths []int, onPolicy bool) {
	cfg := tiny(tied)
	weights := randomWeights(t, cfg, 5)
	w := newTwin(cfg, weights)
	r := rand.New(rand.NewPCG(3, 4))
	temperature := loss.Temperature
	if temperature == 0 {
		temperature = 1
	}
	batch := randomBatch(r, w, temperature, lengths...)
	var held [][]float64
	for i, q := range batch {
		logProbs, _ := w.logProbs(q.Tokens, temperature)
		held = append(held, logProbs)
		if onPolicy {
			batch[i].LogProbs = nil
		}
	}

	trainer := mustTrainer(t, cfg, weights)
	stats := mustAccumulate(t, trainer, batch, loss)
	if want := w.loss(batch, loss, held); math.Abs(stats.Loss-want) > 1e-5*(1+math.Abs(want)) {
		t.Errorf("loss is %v, want %v", stats.Loss, want)
	}
	for _, g := range trainer.grads.tensors {
		p := w.weights[g.Name]
		direction, got, length, size := make([]float64, len(p)), 0.0, 0.0, 0.0
		for i := range direction {
			direction[i] = r.NormFloat64()
			length += direction[i] * direction[i]
			size += float64(g.Data[i]) * float64(g.Data[i])
		}
		length, size = math.Sqrt(length), math.Sqrt(size)
		for i := range direction {
			direction[i] /= length
			got += direction[i] * float64(g.Data[i])
		}
		const h = 1e-4
		move := func(by float64) float64 {
			for i := range p {
				p[i] += by * direction[i]
			}
			return w.loss(batch, loss, held)
		}
		want := move(h)
		want = (want - move(-2*h)) / (2 * h)
		move(h)
		if size == 0 || !(math.Abs(got-want) <= gradientTolerance*size) {
			t.Errorf("%s: derivative %.9g, want %.9g, gradient length %.3g", g.Name, got, want, size)
		}
	}
}

// TestLossDerivatives compares lossOf's derivatives with central differences of
// kernels.Loss's formula, on both sides of every bend.
func TestLossDerivatives(t *testing.T) {
	losses := []kernels.Loss{
		{Supervised: true}, {}, {ClipLow: 0.2, ClipHigh: 0.3}, {KLCoefficient: 0.4}, {EntropyCoefficient: 0.5},
		{ClipLow: 10, ClipHigh: 0.3}, {DualClip: 1.2}, {ClipLow: 0.2, ClipHigh: 0.3, DualClip: 1.4},
		{SequenceRatio: true}, {SequenceRatio: true, ClipLow: 0.2, ClipHigh: 0.3, DualClip: 1.4},
		{ClippedWeight: true, ClipLow: 10, ClipHigh: 0.3}, {ClippedWeight: true, SequenceRatio: true, ClipLow: 0.2, ClipHigh: 0.3},
		{TruncatedIS: 1.1}, {TruncatedIS: 1.1, ClipLow: 0.2, ClipHigh: 0.3, DualClip: 2, KLCoefficient: 0.1, EntropyCoefficient: 0.1},
	}
	bends := map[string]bool{}
	for _, l := range losses {
		for _, advantage := range []float64{-1.5, 0, 0.7} {
			for _, behaviour := range []float64{-0.4, -0.9, -1.1, -1.6} {
				for _, sequence := range []float64{-0.6, 0.1, 0.5} {
					p := prediction{logProb: -1, entropy: 1.7, advantage: advantage, behaviour: behaviour, reference: -1.3,
						sequenceRatio: math.Exp(sequence)}
					at := lossOf(&l, p)
					twin := point{advantage: advantage, behaviour: behaviour, reference: -1.3, held: -1, sequence: sequence}
					value := func(logProb, entropy float64) float64 { return twin.loss(l, logProb, entropy) }
					const h = 1e-5
					by := func(a, b float64) float64 { return (value(-1+a, 1.7+b) - value(-1-a, 1.7-b)) / (2 * h) }
					if math.Abs(at.loss-value(-1, 1.7)) > 1e-12 || math.Abs(at.dLogProb-by(h, 0)) > 1e-8 || math.Abs(at.dEntropy-by(0, h)) > 1e-8 {
						t.Errorf("%+v at %+v: %+v, want %v, %v, %v", l, p, at, value(-1, 1.7), by(h, 0), by(0, h))
					}
					free := l
					free.ClipLow, free.ClipHigh, free.DualClip = 0, 0, 0
					if l.TruncatedIS > 0 {
						free.TruncatedIS = math.Inf(1)
					}
					if want := math.Abs(at.loss-lossOf(&free, p).loss) > 1e-12; at.clipped != want && advantage != 0 {
						t.Errorf("%+v at %+v: clipped is %v, want %v", l, p, at.clipped, want)
					}
					bends[fmt.Sprintf("%+v %v", l, at.clipped)] = true
				}
			}
		}
	}
	if len(bends) != 2*len(losses)-5 { // five of the losses have nothing that clips
		t.Errorf("%d of %d losses show both sides of their clip", len(bends)-len(losses), len(losses)-5)
	}
}

// TestAttentionGradient is the operation alone: norm, rotation and attention of
// one sequence, from qkv to out, against central differences of a float64 loop.
func TestAttentionGradient(t *testing.T) {
	for _, n := range []int{1, 5, 64, 65, 130} {
		cfg := tiny(true)
		s := newShape(cfg)
		r := rand.New(rand.NewPCG(uint64(n), 1))
		angles := newRope(cfg.HeadDim, cfg.RopeTheta)
		angles.ensure(n)
		norm := func() []float32 {
			w := normals(r, s.headDim)
			for i := range w {
				w[i] = 1 + 0.3*w[i]
			}
			return w
		}
		qNorm, kNorm := norm(), norm()
		qkv, dOut := normals(r, n*s.qkvWidth), normals(r, n*s.outWidth)
		out, lse := make([]float32, n*s.outWidth), make([]float32, n*s.heads)
		dQKV, dQNorm, dKNorm := make([]float32, len(qkv)), make([]float32, s.headDim), make([]float32, s.headDim)
		scratch := newAttentionScratch(&s)
		for kv := range s.kvHeads {
			task := attentionTask{s: &s, rope: angles, qNorm: qNorm, kNorm: kNorm, qkv: qkv, out: out, lse: lse, to: n, kv: kv}
			task.forward(scratch)
			task.backward(scratch, dOut, dQKV, dQNorm, dKNorm)
		}

		in := [][]float64{float64s(qkv), float64s(qNorm), float64s(kNorm)}
		kernelstest.NearValues(t, fmt.Sprintf("attention of %d", n), out, float32s(attention64(&s, cfg.RopeTheta, n, in)), 1e-5)
		for i, gradient := range [][]float32{dQKV, dQNorm, dKNorm} {
			direction := float64s(normals(r, len(gradient)))
			// With one key the weights are 1 whatever the norms: the gradient is
			// rounding of dOut alone.
			got, size := 0.0, 1.0
			for j, g := range gradient {
				got += float64(g) * direction[j]
				size += float64(g) * float64(g)
			}
			const h = 1e-5
			value := func(by float64) (sum float64) {
				for j, d := range direction {
					in[i][j] += by * d
				}
				for j, o := range attention64(&s, cfg.RopeTheta, n, in) {
					sum += o * float64(dOut[j])
				}
				return sum
			}
			want := value(h)
			want = (want - value(-2*h)) / (2 * h)
			value(h)
			if !(math.Abs(got-want) <= gradientTolerance*math.Sqrt(size)*math.Sqrt(float64(len(direction)))) {
				t.Errorf("%d tokens, input %d: derivative %v, want %v", n, i, got, want)
			}
		}
	}
}

// attention64 is attention of one sequence by its definition; in is qkv, the
// query and the key norm weights.
func attention64(s *shape, theta float64, n int, in [][]float64) []float64 {
	d := s.headDim
	out := make([]float64, n*s.outWidth)
	for t := range n {
		for h := range s.heads {
			kv := h / s.group
			row := func(p, at int, norm []float64) []float64 {
				x := in[0][p*s.qkvWidth+at : p*s.qkvWidth+at+d]
				return rope64(norm64(norm, x, float64(s.eps)), p, theta)
			}
			q := row(t, h*d, in[1])
			weights, sum := make([]float64, t+1), 0.0
			for p := range weights {
				k := row(p, s.keyOffset+kv*d, in[2])
				for i := range d {
					weights[p] += q[i] * k[i]
				}
				weights[p] = math.Exp(weights[p] / math.Sqrt(float64(d)))
				sum += weights[p]
			}
			for p, w := range weights {
				for i := range d {
					out[t*s.outWidth+h*d+i] += w / sum * in[0][p*s.qkvWidth+s.valueOffset+kv*d+i]
				}
			}
		}
	}
	return out
}

func float64s(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

func float32s(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}
