package cpu

// cachePage holds the keys and values of keyBlock tokens of one sequence, for
// all layers and kv heads: [layers, K] key blocks.
type cachePage []float32

// pagePool keeps the pages of closed sequences for the next ones. The engine's
// lock guards it.
type pagePool struct {
	floats int // a page
	free   []cachePage
}

func (p *pagePool) get() cachePage {
	if n := len(p.free); n > 0 {
		page := p.free[n-1]
		p.free = p.free[:n-1]
		return page
	}
	return make(cachePage, p.floats)
}

func (p *pagePool) put(pages []cachePage) { p.free = append(p.free, pages...) }

// block is the key block of a layer and kv head in a page.
func (c cachePage) block(s *shape, layer, kv int) []float32 {
	size := blockFloats(s.headDim)
	at := (layer*s.kvHeads + kv) * size
	return c[at : at+size]
}
