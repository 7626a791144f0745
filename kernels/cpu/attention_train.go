package cpu

// attentionScratch is one worker's memory for attention over a whole sequence
// and one kv head. It grows with the sequence, linearly.
type attentionScratch struct {
	tile   *queryTile
	blocks [][]float32
	floats []float32 // the blocks
	key    []float32 // [D]

	// The rest is for the backward pass.
	keys           []float32 // [T,D], normed and rotated
	values         []float32 // blocks of values transposed [D,keyBlock]
	dKeys, dValues []float32 // [T,D]
	dOut           []float32 // [R,D]
	dQuery         []float32 // [R,D]
	dScores        []float32 // [R,keyBlock]
	delta          []float32 // [R]
}

func newAttentionScratch(s *shape) *attentionScratch {
	return &attentionScratch{
		tile:    newQueryTile(keyBlock, s.headDim),
		key:     make([]float32, s.headDim),
		dOut:    make([]float32, keyBlock*s.headDim),
		dQuery:  make([]float32, keyBlock*s.headDim),
		dScores: make([]float32, keyBlock*keyBlock),
		delta:   make([]float32, keyBlock),
	}
}

// attentionTask is one sequence and one kv head of a layer: rows [from,to) of
// the pack.
type attentionTask struct {
	s            *shape
	rope         *rope
	qNorm, kNorm []float32
	qkv          []float32 // [T,(H+2K)D], before norm and rotation
	out          []float32 // [T,H*D]
	lse          []float32 // [T,H]
	from, to, kv int
}

func (a *attentionTask) row(t int) []float32 {
	return a.qkv[t*a.s.qkvWidth : (t+1)*a.s.qkvWidth]
}

// gather fills the scratch's blocks with the task's keys and values.
func (a *attentionTask) gather(w *attentionScratch) {
	n := a.to - a.from
	size := blockFloats(a.s.headDim)
	count := (n + keyBlock - 1) / keyBlock
	w.floats = grow(w.floats, count*size)
	w.blocks = w.blocks[:0]
	for b := range count {
		w.blocks = append(w.blocks, w.floats[b*size:(b+1)*size])
	}
	for p := range n {
		row := a.row(a.from + p)
		a.s.key(w.key, row, a.kNorm, a.rope, a.kv, p)
		putKeyValue(w.blocks[p/keyBlock], p%keyBlock, w.key, a.s.value(row, a.kv))
	}
}

// queries fills the tile with head h at positions [p, p+rows).
func (a *attentionTask) queries(w *attentionScratch, h, p, rows int) {
	d := a.s.headDim
	for r := range rows {
		w.tile.position[r] = p + r
		a.s.query(w.tile.q[r*d:(r+1)*d], a.row(a.from+p+r), a.qNorm, a.rope, h, p+r)
	}
}

// forward writes the task's part of out and lse.
func (a *attentionTask) forward(w *attentionScratch) {
	a.gather(w)
	d := a.s.headDim
	for g := range a.s.group {
		h := a.kv*a.s.group + g
		for p := 0; p < a.to-a.from; p += keyBlock {
			rows := min(keyBlock, a.to-a.from-p)
			a.queries(w, h, p, rows)
			w.tile.attend(rows, w.blocks)
			for r := range rows {
				t := a.from + p + r
				copy(a.out[t*a.s.outWidth+h*d:t*a.s.outWidth+(h+1)*d], w.tile.o[r*d:(r+1)*d])
				a.lse[t*a.s.heads+h] = w.tile.sum[r]
			}
		}
	}
}
