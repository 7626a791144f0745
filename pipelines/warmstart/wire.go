package warmstart

import (
	"fmt"
	"math"

	"millrace/kernels"
)

// The wired circuit divides the residual stream: dimension 0 is the same for
// every token, the last 2 * [wiredKeys] say which tokens came before, and the
// rest tell tokens apart.
const (
	// wiredKeys is the number of dimensions by which a head compares places. They
	// sit in the slowest rotations of a head, which leave a comparison across a
	// thousand tokens as it is.
	wiredKeys = 20
	// wiredStd is the spread of the embeddings, larger than usual so that a token
	// copied into the stream is a confident prediction from the first step on.
	wiredStd = 0.05
	// wiredConstant is dimension 0 of every embedding, in units of wiredStd.
	wiredConstant = 3
	// wiredWrite is how strongly a copied token is written over the present one.
	wiredWrite = 3
	// wiredBack and wiredMatch are the gains of the query and key norms of the two
	// layers: scores reach gain^2 * sqrt(head width), 35 and 18 at width 32, which
	// singles out one position of two thousand.
	wiredBack, wiredMatch = 2.5, 1.8
	// id is the first of the dimensions that tell tokens apart, called a token's id.
	id = 1
	// half is what the second group keeps of an id: it compares two tokens.
	half = wiredKeys / 2
)

// wiredEnergy is how a head that looks back spreads over its fastest rotations:
// the first ones tell the neighbours apart, the others what is a whole turn of
// those away.
var wiredEnergy = []float64{0.4, 0.2, 0.15, 0.1, 0.08, 0.07}

// wire sets the first two layers of a fresh model to copy. Heads of layer 0 look
// back by one or two tokens and write down which they were. One head of layer 1
// looks for earlier places that came after the token at hand, another for those
// that came after the last two tokens; both write down what stands there. This
// is the induction circuit that training grows by itself (Olsson et al. 2022,
// arXiv:2209.11895), for which the few million tokens of a warm start do not
// suffice: without it the policy learns the demonstrations by heart. Everything
// stays trainable.
func wire(model kernels.Config, weights []kernels.Tensor) error {
	const keys = 2 * wiredKeys
	groups, width := model.NumKeyValueHeads, model.HeadDim
	if groups != 2 || model.NumAttentionHeads < 4 || model.NumHiddenLayers < 2 || width/2 < len(wiredEnergy)+wiredKeys/2 || model.HiddenSize < 1+2*width+keys {
		return fmt.Errorf("wiring the first layers: a model of %d layers, hidden size %d and %d key-value heads of width %d has no room for it",
			model.NumHiddenLayers, model.HiddenSize, groups, width)
	}
	byName := map[string]kernels.Tensor{}
	for _, t := range weights {
		byName[t.Name] = t
	}
	seen := model.HiddenSize - keys // the first dimension that says which tokens came before
	wireEmbedding(byName["model.embed_tokens.weight"].Data, model.HiddenSize, seen)
	wireLookBack(attentionOf(model, byName, 0), seen)
	wireMatch(attentionOf(model, byName, 1), seen)
	return nil
}

// wireEmbedding gives every token the constant and leaves room for what came
// before it.
func wireEmbedding(embedding []float32, hidden, seen int) {
	scale := wiredStd / spread(embedding)
	for i := range embedding {
		switch dim := i % hidden; {
		case dim == 0:
			embedding[i] = wiredConstant * wiredStd
		case dim < seen:
			embedding[i] *= float32(scale)
		default:
			embedding[i] = 0
		}
	}
}

// wireLookBack makes the first head of each group attend to the token before,
// and the second to the one before that, and writes their ids down.
func wireLookBack(a attention, seen int) {
	for group := range 2 {
		a.clear(group, 2)
		for i, energy := range wiredEnergy {
			angle := math.Pow(a.model.RopeTheta, -2*float64(i)/float64(a.width))
			size := math.Sqrt(energy)
			a.k.set(group*a.width+i, 0, size) // the same key at every token
			for back := 1; back <= 2; back++ {
				// The query is the key turned back.
				query := a.head(group, back-1)
				a.q.set(query+i, 0, size*math.Cos(float64(back)*angle))
				a.q.set(query+a.width/2+i, 0, -size*math.Sin(float64(back)*angle))
			}
		}
	}
	a.gain(wiredBack)
	one, two := seen, seen+wiredKeys+half // the ids of the tokens one and two back
	for j := range wiredKeys {
		a.v.set(j, id+j, 1)
		a.o.set(one+j, j, wiredStd)
	}
	for j := range half {
		a.v.set(a.width+j, id+wiredKeys+j, 1)
		a.o.set(one+wiredKeys+j, a.head(1, 0)+j, wiredStd)
		a.o.set(two+j, a.head(1, 1)+j, wiredStd)
	}
}

// wireMatch makes the first head of the first group attend to places that came
// after the token at hand, that of the second to those that came after the last
// two tokens, and writes down what stands there.
func wireMatch(a attention, seen int) {
	for group := range 2 {
		a.clear(group, 1)
		for j := range a.width {
			dim := id + group*a.width + j
			a.v.set(group*a.width+j, dim, 1)
			a.o.set(dim, a.head(group, 0)+j, wiredWrite*wiredStd)
		}
	}
	a.gain(wiredMatch)
	// The slow rotations are the last of each half of a head.
	slow := func(j int) int {
		if j < half {
			return a.width/2 - half + j
		}
		return a.width - wiredKeys + j
	}
	one, two := seen, seen+wiredKeys+half // the ids of the tokens one and two back
	for j := range wiredKeys {
		a.q.set(slow(j), id+j, 1)
		a.k.set(slow(j), one+j, 1)
	}
	query, key := a.head(1, 0), a.width
	for j := range half {
		a.q.set(query+slow(j), id+wiredKeys+j, 1)
		a.k.set(key+slow(j), one+wiredKeys+j, 1)
		a.q.set(query+slow(half+j), one+wiredKeys+j, 1)
		a.k.set(key+slow(half+j), two+j, 1)
	}
}

// attention are the weights of one layer's attention.
type attention struct {
	model        kernels.Config
	width        int // of a head
	q, k, v, o   matrix
	qNorm, kNorm []float32
}

func attentionOf(model kernels.Config, byName map[string]kernels.Tensor, layer int) attention {
	part := func(name string) kernels.Tensor {
		return byName[fmt.Sprintf("model.layers.%d.self_attn.%s.weight", layer, name)]
	}
	return attention{
		model: model, width: model.HeadDim,
		q: matrix{part("q_proj")}, k: matrix{part("k_proj")}, v: matrix{part("v_proj")}, o: matrix{part("o_proj")},
		qNorm: part("q_norm").Data, kNorm: part("k_norm").Data,
	}
}

// head is the first row of the group's n-th query head.
func (a attention) head(group, n int) int {
	return (group*a.model.NumAttentionHeads/a.model.NumKeyValueHeads + n) * a.width
}

// clear empties a group's first heads, and its key and value.
func (a attention) clear(group, heads int) {
	a.q.clearRows(a.head(group, 0), heads*a.width)
	a.k.clearRows(group*a.width, a.width)
	a.v.clearRows(group*a.width, a.width)
	a.o.clearColumns(a.head(group, 0), heads*a.width)
}

func (a attention) gain(value float32) {
	fill(a.qNorm, value)
	fill(a.kNorm, value)
}

// matrix is a tensor of two dimensions.
type matrix struct{ kernels.Tensor }

func (m matrix) set(row, column int, value float64) {
	m.Data[row*m.Shape[1]+column] = float32(value)
}

func (m matrix) clearRows(first, n int) { clear(m.Data[first*m.Shape[1] : (first+n)*m.Shape[1]]) }

func (m matrix) clearColumns(first, n int) {
	for row := range m.Shape[0] {
		clear(m.Data[row*m.Shape[1]+first : row*m.Shape[1]+first+n])
	}
}

func fill(data []float32, value float32) {
	for i := range data {
		data[i] = value
	}
}

// spread is the standard deviation of values around 0.
func spread(data []float32) float64 {
	sum := 0.0
	for _, x := range data {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum / float64(len(data)))
}
