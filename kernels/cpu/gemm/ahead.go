package gemm

// nearElements of A, 512 KiB, are taken to be in the second-level cache already.
const nearElements = 1 << 17

// ahead fetches the strip of A that is needed next into the second-level cache,
// a few rows with each tile: the processor's own prefetchers see a dozen short
// streams and come too late for most of them. (A transposed A is read while it is
// packed, in longer streams, and gains nothing from this.)
type ahead struct {
	// start is the first of rows rows of cols elements, stride apart.
	start              []float32
	stride, rows, cols int
	// done rows are fetched. The tiles-th call of step fetches the last of them;
	// taken is the number of calls so far.
	done, tiles, taken int
}

// step fetches the next share.
func (f *ahead) step() {
	if f.done == f.rows {
		return
	}
	f.taken++
	if until := f.rows * f.taken / f.tiles; until > f.done {
		prefetchRows(&f.start[f.done*f.stride], f.stride, until-f.done, f.cols)
		f.done = until
	}
}

// rowsAhead fetches the strip of A that starts at row i, over terms t0 to t1 of
// the block, during the given number of tiles.
func (p *product) rowsAhead(i, i1, t0, t1, tiles int) ahead {
	if i >= i1 || p.m*p.k < nearElements {
		return ahead{}
	}
	return ahead{
		start:  p.a.data[i*p.a.row+p.p0+t0:],
		stride: p.a.row,
		rows:   p.stripHeight(i1 - i),
		cols:   t1 - t0,
		tiles:  tiles,
	}
}
