package cpu

import (
	"math"
	"strings"

	"millrace/kernels"
)

// twin is the specification of the model and its loss in float64: plain loops,
// one token at a time, nothing fused, written from the formulas and not from
// the code under test. Its only input besides weights and sequences is the
// float32 rounding of RoPE's angles, which is Hugging Face's.
type twin struct {
	cfg     kernels.Config
	weights map[string][]float64
}

func newTwin(cfg kernels.Config, weights []kernels.Tensor) *twin {
	w := &twin{cfg: cfg, weights: map[string][]float64{}}
	for _, t := range weights {
		for _, v := range t.Data {
			w.weights[t.Name] = append(w.weights[t.Name], float64(v))
		}
	}
	return w
}

func (w *twin) layer(i int, name string) []float64 {
	return w.weights["model.layers."+string(rune('0'+i))+"."+name+".weight"]
}

func linear64(weight, x []float64) []float64 {
	y := make([]float64, len(weight)/len(x))
	for o := range y {
		for i, v := range x {
			y[o] += weight[o*len(x)+i] * v
		}
	}
	return y
}

func norm64(weight, x []float64, eps float64) []float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = weight[i] * v / math.Sqrt(s/float64(len(x))+eps)
	}
	return y
}

func rope64(x []float64, position int, theta float64) []float64 {
	n := len(x)
	y := make([]float64, n)
	for i := range n / 2 {
		frequency := float32(math.Pow(theta, -2*float64(i)/float64(n)))
		angle := float64(float32(position) * frequency)
		cos, sin := float64(float32(math.Cos(angle))), float64(float32(math.Sin(angle)))
		y[i] = x[i]*cos - x[i+n/2]*sin
		y[i+n/2] = x[i+n/2]*cos + x[i]*sin
	}
	return y
}

// logits returns the rows of logits of one sequence.
func (w *twin) logits(tokens []int32) [][]float64 {
	c := w.cfg
	x := make([][]float64, len(tokens))
	for t, id := range tokens {
		embed := w.weights["model.embed_tokens.weight"]
		x[t] = append([]float64(nil), embed[int(id)*c.HiddenSize:(int(id)+1)*c.HiddenSize]...)
	}
	d := c.HeadDim
	for i := range c.NumHiddenLayers {
		keys, values := make([][][]float64, len(x)), make([][][]float64, len(x))
		for t := range x {
			n := norm64(w.layer(i, "input_layernorm"), x[t], c.RMSNormEps)
			k, v := linear64(w.layer(i, "self_attn.k_proj"), n), linear64(w.layer(i, "self_attn.v_proj"), n)
			q := linear64(w.layer(i, "self_attn.q_proj"), n)
			for h := range c.NumKeyValueHeads {
				head := norm64(w.layer(i, "self_attn.k_norm"), k[h*d:(h+1)*d], c.RMSNormEps)
				keys[t] = append(keys[t], rope64(head, t, c.RopeTheta))
				values[t] = append(values[t], v[h*d:(h+1)*d])
			}
			var out []float64
			for h := range c.NumAttentionHeads {
				head := norm64(w.layer(i, "self_attn.q_norm"), q[h*d:(h+1)*d], c.RMSNormEps)
				head = rope64(head, t, c.RopeTheta)
				kv := h / (c.NumAttentionHeads / c.NumKeyValueHeads)
				scores, sum := make([]float64, t+1), 0.0
				for s := range scores {
					var dot float64
					for j := range d {
						dot += head[j] * keys[s][kv][j]
					}
					scores[s] = math.Exp(dot / math.Sqrt(float64(d)))
					sum += scores[s]
				}
				o := make([]float64, d)
				for s, p := range scores {
					for j := range d {
						o[j] += p / sum * values[s][kv][j]
					}
				}
				out = append(out, o...)
			}
			mid := linear64(w.layer(i, "self_attn.o_proj"), out)
			for j := range mid {
				mid[j] += x[t][j]
			}
			n = norm64(w.layer(i, "post_attention_layernorm"), mid, c.RMSNormEps)
			gate, up := linear64(w.layer(i, "mlp.gate_proj"), n), linear64(w.layer(i, "mlp.up_proj"), n)
			for j, g := range gate {
				up[j] *= g / (1 + math.Exp(-g))
			}
			down := linear64(w.layer(i, "mlp.down_proj"), up)
			for j := range down {
				mid[j] += down[j]
			}
			// Row t of this layer's input is not read again: later rows read
			// keys and values.
			x[t] = mid
		}
	}
	head := w.weights["lm_head.weight"]
	if c.TieWordEmbeddings {
		head = w.weights["model.embed_tokens.weight"]
	}
	out := make([][]float64, len(x))
	for t := range x {
		out[t] = linear64(head, norm64(w.weights["model.norm.weight"], x[t], c.RMSNormEps))
	}
	return out
}

// logProbs returns log p(tokens[t]|...) and the entropy of its distribution.
func (w *twin) logProbs(tokens []int32, temperature float64) (logProbs, entropies []float64) {
	rows := w.logits(tokens)
	logProbs, entropies = make([]float64, len(tokens)), make([]float64, len(tokens))
	for t := 1; t < len(tokens); t++ {
		var sum float64
		for _, z := range rows[t-1] {
			sum += math.Exp(z / temperature)
		}
		for _, z := range rows[t-1] {
			p := math.Exp(z/temperature) / sum
			entropies[t] -= p * math.Log(p)
		}
		logProbs[t] = rows[t-1][tokens[t]]/temperature - math.Log(sum)
	}
	return logProbs, entropies
}

// loss is kernels.Loss's formula, with what carries no gradient given by held:
// the log-probabilities at the point of differentiation.
func (w *twin) loss(sequences []kernels.Sequence, l kernels.Loss, held [][]float64) float64 {
	var all float64
	temperature := l.Temperature
	if temperature == 0 {
		temperature = 1
	}
	for i, q := range sequences {
		logProbs, entropies := w.logProbs(q.Tokens, temperature)
		behaviour := func(t int) float64 {
			if q.LogProbs == nil {
				return held[i][t]
			}
			return float64(q.LogProbs[t])
		}
		var sum, trained, distance float64
		for t := range q.Tokens {
			if q.Mask[t] {
				trained++
				distance += held[i][t] - behaviour(t)
			}
		}
		for t := range q.Tokens {
			if !q.Mask[t] {
				continue
			}
			at := point{advantage: q.Advantage, behaviour: behaviour(t), held: held[i][t], sequence: distance / trained}
			if q.Reference != nil {
				at.reference = float64(q.Reference[t])
			}
			sum += at.loss(l, logProbs[t], entropies[t])
		}
		if l.PerSequenceMean {
			sum /= trained
		}
		all += sum
	}
	return all / l.Divisor
}

// point is what kernels.Loss holds fixed of a token: held is its log-probability
// and sequence the mean over its sequence of log-probability minus behaviour, both
// where the loss is differentiated.
type point struct {
	advantage, behaviour, reference, held, sequence float64
}

// loss is kernels.Loss's formula of one token, line by line as it is printed.
func (p point) loss(l kernels.Loss, logProb, entropy float64) float64 {
	clip := func(ratio float64) float64 {
		if l.ClipLow == 0 && l.ClipHigh == 0 {
			return ratio
		}
		return math.Min(math.Max(ratio, 1-l.ClipLow), 1+l.ClipHigh)
	}
	ratio := math.Exp(logProb - p.behaviour)
	heldRatio := math.Exp(p.held - p.behaviour)
	if l.SequenceRatio {
		ratio = math.Exp(p.sequence + logProb - p.held)
		heldRatio = math.Exp(p.sequence)
	}
	if l.TruncatedIS > 0 {
		ratio = math.Exp(logProb - p.held)
	}
	s := math.Max(-p.advantage*ratio, -p.advantage*clip(ratio))
	if l.DualClip > 0 && p.advantage < 0 {
		s = math.Min(s, -p.advantage*l.DualClip)
	}
	if l.ClippedWeight {
		s = -clip(heldRatio) * p.advantage * logProb
	}
	if l.TruncatedIS > 0 {
		s = -math.Min(heldRatio, l.TruncatedIS) * p.advantage * ratio
	}
	if l.Supervised {
		s = -p.advantage * logProb
	}
	if l.KLCoefficient != 0 {
		d := p.reference - logProb
		s += l.KLCoefficient * (math.Exp(d) - d - 1)
	}
	return s - l.EntropyCoefficient*entropy
}

// isNorm tells norm weights from matrices.
func isNorm(name string) bool { return strings.Contains(name, "norm") }
