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
)

// wiredEnergy is how the head that looks back by one spreads over its fastest
// rotations: the first ones tell the neighbours apart, the others what is a
// whole turn of those away.
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
	hidden := model.HiddenSize
	seen := hidden - keys // the first dimension that says which token came before

	embedding := byName["model.embed_tokens.weight"].Data
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

	perGroup := model.NumAttentionHeads / groups
	for layer, gain := range []float32{wiredBack, wiredMatch} {
		name := func(part string) string { return fmt.Sprintf("model.layers.%d.self_attn.%s.weight", layer, part) }
		q, k, v, o := matrix{byName[name("q_proj")]}, matrix{byName[name("k_proj")]}, matrix{byName[name("v_proj")]}, matrix{byName[name("o_proj")]}
		for _, norm := range []string{"q_norm", "k_norm"} {
			fill(byName[name(norm)].Data, gain)
		}
		for g := range groups {
			query, key := g*perGroup*width, g*width // the first row of the group's first head
			heads := 2 - layer                      // that are wired in the group
			q.clearRows(query, heads*width)
			k.clearRows(key, width)
			v.clearRows(key, width)
			o.clearColumns(query, heads*width)
			if layer == 0 {
				lookBack(model, g, q, k)
			} else {
				for j := range width { // what stands at the place that is found
					v.set(key+j, 1+g*width+j, 1)
					o.set(1+g*width+j, query+j, wiredWrite*wiredStd)
				}
			}
		}
		// Names of dimensions: id tells tokens apart, one and two are the ids of the
		// tokens one and two back. The second group keeps half of an id for each.
		const half = wiredKeys / 2
		id, one, two := 1, seen, seen+wiredKeys+half
		if layer == 0 {
			for j := range wiredKeys {
				v.set(j, id+j, 1)
				o.set(one+j, j, wiredStd)
			}
			first, second := perGroup*width, (perGroup+1)*width // two heads of one group
			for j := range half {
				v.set(width+j, id+wiredKeys+j, 1)
				o.set(one+wiredKeys+j, first+j, wiredStd)
				o.set(two+j, second+j, wiredStd)
			}
			continue
		}
		// The slow rotations are the last of each half of a head.
		slow := func(j int) int {
			if j < half {
				return width/2 - half + j
			}
			return width - wiredKeys + j
		}
		for j := range wiredKeys {
			q.set(slow(j), id+j, 1)
			k.set(slow(j), one+j, 1)
		}
		for j := range half {
			query, key := perGroup*width, width
			q.set(query+slow(j), id+wiredKeys+j, 1)
			k.set(key+slow(j), one+wiredKeys+j, 1)
			q.set(query+slow(half+j), one+wiredKeys+j, 1)
			k.set(key+slow(half+j), two+j, 1)
		}
	}
	return nil
}

// lookBack makes the first head of a group attend to the token before, and the
// second to the one before that. Their group's key is the same at every token.
func lookBack(model kernels.Config, group int, q, k matrix) {
	width, perGroup := model.HeadDim, model.NumAttentionHeads/model.NumKeyValueHeads
	for i, energy := range wiredEnergy {
		angle := math.Pow(model.RopeTheta, -2*float64(i)/float64(width))
		size := math.Sqrt(energy)
		k.set(group*width+i, 0, size)
		for back := 1; back <= 2; back++ {
			// The query is the key turned back.
			query := (group*perGroup + back - 1) * width
			q.set(query+i, 0, size*math.Cos(float64(back)*angle))
			q.set(query+width/2+i, 0, -size*math.Sin(float64(back)*angle))
		}
	}
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
