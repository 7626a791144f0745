package gemm

// grid divides a block of C into pieces of whole tiles.
type grid struct {
	// rows and cols are the size of a piece; the last ones may be smaller.
	rows, cols int
	// down and across count the pieces.
	down, across int
}

func (g grid) pieces() int { return g.down * g.across }

const (
	// pieceProducts is the least number of multiplications worth giving to
	// another goroutine: 10 microseconds at 100 GFLOP/s, against the one or two
	// that it takes to have a worker that is awake join.
	pieceProducts = 1 << 19
	// piecesPerThread is above 1 so that a thread that loses its processor for a
	// while holds up a part of its share only.
	piecesPerThread = 3
	// pieceTiles is the least height of a piece, in tiles, before columns are
	// divided too: panels of B are read once for each piece in a column.
	pieceTiles = 4
)

// split chooses the pieces of an m x n block over k terms. They are more
// numerous the more rows; columns are divided when there are too few rows.
func split(m, k, n, height, width, threads int) grid {
	want := 1
	if threads > 1 {
		want = max(1, min(threads*piecesPerThread, m*k*n/pieceProducts))
	}
	down := max(1, min(want, m/(pieceTiles*height)))
	across := (want + down - 1) / down
	g := grid{rows: ceilTo(m, down, height), cols: ceilTo(n, across, width)}
	g.down = (m + g.rows - 1) / g.rows
	g.across = (n + g.cols - 1) / g.cols
	return g
}

// ceilTo is n/parts rounded up to a multiple of unit.
func ceilTo(n, parts, unit int) int {
	size := (n + parts - 1) / parts
	return (size + unit - 1) / unit * unit
}
