package gemm

import (
	"sync"

	"millrace/kernels/cpu/gemm/workers"
)

const (
	// termBlock is the number of terms summed from zero before they are added
	// to C. It is part of the numerical contract (see the package comment). 12
	// rows of A over 512 terms are 24 KiB, half of a 48 KiB first-level cache, in
	// which they stay while panels of B pass by.
	termBlock = 512
	// cacheCols columns of B over termBlock terms are 1 MiB, half of a 2 MiB
	// second-level cache, in which they stay while rows of A pass by. A multiple
	// of every width.
	cacheCols = 512
	// packCols columns of B over termBlock terms are packed at a time: 4 MiB. A
	// multiple of cacheCols.
	packCols = 4 * cacheCols
)

// operand is op(A) or op(B): element (i, j) is data[i*row+j*col], and row or col
// is 1.
type operand struct {
	data     []float32
	row, col int
}

// op is a matrix stored with the given stride, transposed or not.
func op(trans bool, data []float32, stride int) operand {
	if trans {
		return operand{data: data, row: 1, col: stride}
	}
	return operand{data: data, row: stride, col: 1}
}

// panels is where the kernels read B: row p of panel j starts at
// data[j*panel+p*row].
type panels struct {
	data       []float32
	panel, row int
}

func (b panels) at(j, p int) *float32 { return &b.data[j*b.panel+p*b.row] }

// product is one call of Gemm, computed block by block. It is kept between calls
// for its buffer.
type product struct {
	*variant
	m, n, k    int
	a, b       operand
	c          []float32
	ldc        int
	accumulate bool

	// The block: columns j0 to j1 and terms p0 to p1.
	j0, j1, p0, p1 int
	// from holds the panels of the block, but for the one with index tailPanel,
	// which is in tail; indices count from the block's first. Rows count from p0.
	from, tail panels
	tailPanel  int
	// The pieces of the block are computed concurrently.
	grid grid

	// buffer is what from or tail point to when B is packed here.
	buffer []float32
	// pack and compute are packPiece and computePiece, bound once so that a call
	// allocates nothing.
	pack, compute func(worker, i int)
}

var products = sync.Pool{New: func() any {
	p := new(product)
	p.pack, p.compute = p.packPiece, p.computePiece
	return p
}}

// multiply is Gemm without its checks. packed, where not nil, is B in the form
// of Packed.data; b is then not looked at.
func (v *variant) multiply(m, n, k int, a, b operand, packed []float32, c []float32, ldc int, accumulate bool) {
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := 0; i < m && !accumulate; i++ {
			clear(c[i*ldc : i*ldc+n])
		}
		return
	}
	p := products.Get().(*product)
	p.variant, p.m, p.n, p.k, p.a, p.b, p.c, p.ldc, p.accumulate = v, m, n, k, a, b, c, ldc, accumulate
	if packed != nil {
		p.j0, p.j1, p.p0, p.p1 = 0, n, 0, k
		p.from, p.tailPanel = panels{data: packed, panel: v.width * k, row: v.width}, -1
		p.run()
	} else {
		for p.j0 = 0; p.j0 < n; p.j0 += packCols {
			p.j1 = min(n, p.j0+packCols)
			for p.p0 = 0; p.p0 < k; p.p0 += termBlock {
				p.p1 = min(k, p.p0+termBlock)
				p.prepare()
				p.run()
			}
		}
	}
	p.a, p.b, p.c, p.from, p.tail = operand{}, operand{}, nil, panels{}, panels{}
	products.Put(p)
}

// prepare finds or packs the panels of the block.
func (p *product) prepare() {
	terms, width := p.p1-p.p0, p.width
	count := p.panels(p.j1 - p.j0)
	if p.b.col == 1 && p.m <= directStrips*p.height {
		// Few rows do not repay packing. A panel with fewer columns than the
		// kernel reads must be packed all the same.
		p.from = panels{data: p.b.data[p.p0*p.b.row+p.j0:], panel: width, row: p.b.row}
		p.tailPanel = -1
		if (p.j1-p.j0)%width != 0 {
			p.tailPanel = count - 1
			p.tail = panels{data: p.grow(width * terms), row: width}
			p.packPanel(p.tail.data, p.b, p.j0+p.tailPanel*width, p.j1, p.p0, p.p1)
		}
		return
	}
	p.from = panels{data: p.grow(count * width * terms), panel: width * terms, row: width}
	p.tailPanel = -1
	if count*width*terms < sharedPack {
		for j := range count {
			p.packPiece(0, j)
		}
		return
	}
	workers.Run(count, p.pack)
}

// directStrips is the most strips of A for which B is read where it is.
const directStrips = 2

// sharedPack is the number of elements from which packing is shared with the
// workers: some 20 microseconds of work.
const sharedPack = 1 << 16

// packPiece packs panel j of the block.
func (p *product) packPiece(_, j int) {
	j0 := p.j0 + j*p.width
	p.packPanel(p.from.data[j*p.from.panel:], p.b, j0, min(p.j1, j0+p.width), p.p0, p.p1)
}

func (p *product) grow(n int) []float32 {
	if cap(p.buffer) < n {
		p.buffer = make([]float32, n)
	}
	return p.buffer[:n]
}

// run computes the block from its panels.
func (p *product) run() {
	p.grid = split(p.m, p.p1-p.p0, p.j1-p.j0, p.height, p.width, workers.Threads())
	if n := p.grid.pieces(); n > 1 {
		workers.Run(n, p.compute)
	} else {
		p.computePiece(0, 0)
	}
}
