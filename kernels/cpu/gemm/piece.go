package gemm

import "sync"

// stripBuffer holds stripGroup strips of a transposed A: as many rows as the
// largest tile of any variant, over termBlock terms, and a line so that strips do
// not start in the same set of the first-level cache.
type stripBuffer [stripGroup][16*termBlock + 16]float32

var stripBuffers = sync.Pool{New: func() any { return new(stripBuffer) }}

// computePiece computes piece i of the block's grid. Term blocks come in
// ascending order for each element, whatever the piece.
func (p *product) computePiece(_, i int) {
	g := p.grid
	i0, j0 := i/g.across*g.rows, i%g.across*g.cols
	i1, j1 := min(p.m, i0+g.rows), min(p.j1-p.j0, j0+g.cols)
	var buffer *stripBuffer
	if p.a.col != 1 {
		buffer = stripBuffers.Get().(*stripBuffer)
		defer stripBuffers.Put(buffer)
	}
	for j := j0; j < j1; j += cacheCols {
		for t := 0; t < p.p1-p.p0; t += termBlock {
			p.strips(buffer, i0, i1, j, min(j1, j+cacheCols), t, min(p.p1-p.p0, t+termBlock))
		}
	}
}

// strips computes rows i0 to i1 and columns j0 to j1 of the block over its terms
// t0 to t1, strip by strip of rows.
func (p *product) strips(buffer *stripBuffer, i0, i1, j0, j1, t0, t1 int) {
	var fetch ahead
	packed, next := 0, 0 // strips in buffer, and the first of them not used
	for i0 < i1 {
		rows := p.stripHeight(i1 - i0)
		a, row, col := &p.a.data[i0*p.a.row+(p.p0+t0)*p.a.col], p.a.row, p.a.col
		if buffer == nil {
			fetch = p.rowsAhead(i0+rows, i1, t0, t1, p.panels(j1-j0))
		} else {
			if next == packed {
				packed, next = p.packStrips(buffer, a, i1-i0, t1-t0), 0
			}
			a, row, col = &buffer[next][0], 1, p.height
			next++
		}
		first := p.p0+t0 == 0 && !p.accumulate
		for j := j0; j < j1; j += p.width {
			fetch.step()
			index, from := j/p.width, &p.from
			if index == p.tailPanel {
				index, from = 0, &p.tail
			}
			p.tiles[rows](t1-t0, a, row, col, from.at(index, t0), from.row,
				&p.c[i0*p.ldc+p.j0+j], p.ldc, min(p.width, j1-j), first)
		}
		i0 += rows
	}
}

// stripHeight is the number of rows of the next strip when left are left: all
// strips are full, but the last two share what is less than two full ones, since
// a tile of few rows takes longer a row.
func (v *variant) stripHeight(left int) int {
	if v.height < left && left < 2*v.height {
		return (left + 1) / 2
	}
	return min(left, v.height)
}

// packStrips packs the strips that start at a: a group of full ones or else a
// single one, and returns their number.
func (p *product) packStrips(buffer *stripBuffer, a *float32, left, terms int) int {
	if left >= (stripGroup+1)*p.height || left == stripGroup*p.height {
		p.copyStrips(&buffer[0][0], len(buffer[0]), a, p.a.col, terms)
		return stripGroup
	}
	p.copyRows(&buffer[0][0], p.height, a, p.a.col, terms, p.stripHeight(left))
	return 1
}
