package gemm

import "unsafe"

// The tile of portable.
const portableHeight, portableWidth = 4, 8

// portable is the specification of the other variants, up to the fusing of
// multiply and add, and the fallback where there is no assembly.
var portable = variant{
	name:       "portable",
	height:     portableHeight,
	width:      portableWidth,
	tiles:      []tileFunc{nil, tilePortable(1), tilePortable(2), tilePortable(3), tilePortable(4)},
	copyRows:   copyRowsPortable,
	transpose:  transposePortable,
	copyStrips: copyStripsPortable,
}

// tilePortable returns the tileFunc of the given number of rows.
func tilePortable(rows int) tileFunc {
	return func(k int, a *float32, aRow, aCol int, b *float32, bRow int, c *float32, cRow, cols int, first bool) {
		as := unsafe.Slice(a, (rows-1)*aRow+(k-1)*aCol+1)
		bs := unsafe.Slice(b, (k-1)*bRow+portableWidth)
		cs := unsafe.Slice(c, (rows-1)*cRow+cols)
		for i := 0; i < rows; i += 2 {
			for j := 0; j < cols; j += 2 {
				pair(k, as[i*aRow:], min(aRow, (rows-1-i)*aRow), aCol, bs[j:], bRow, cs[i*cRow+j:], cRow, min(2, rows-i), min(2, cols-j), first)
			}
		}
	}
}

// pair computes at most 2 x 2 elements: four sums fit the registers of every
// architecture. Where there is one row, aRow is 0 and the row is summed twice.
// The conversions keep the compiler from fusing, so that the bits are the same
// on every architecture.
func pair(k int, a []float32, aRow, aCol int, b []float32, bRow int, c []float32, cRow, rows, cols int, first bool) {
	var s [2][2]float32
	{
		var s00, s01, s10, s11 float32
		for p := range k {
			a0, a1 := a[p*aCol], a[p*aCol+aRow]
			row := b[p*bRow : p*bRow+2]
			s00 += float32(a0 * row[0])
			s01 += float32(a0 * row[1])
			s10 += float32(a1 * row[0])
			s11 += float32(a1 * row[1])
		}
		s = [2][2]float32{{s00, s01}, {s10, s11}}
	}
	for i := range rows {
		for j := range cols {
			if first {
				c[i*cRow+j] = s[i][j]
			} else {
				c[i*cRow+j] += s[i][j]
			}
		}
	}
}

// copyRowsPortable packs rows whose elements are adjacent:
//
//	dst[p*stride+j] = src[p*ld+j]    j < cols
//	dst[p*stride+j] = 0              cols <= j < stride
func copyRowsPortable(dst *float32, stride int, src *float32, ld, k, cols int) {
	ds := unsafe.Slice(dst, k*stride)
	ss := unsafe.Slice(src, (k-1)*ld+cols)
	for p := range k {
		row := ds[p*stride : (p+1)*stride]
		copy(row, ss[p*ld:p*ld+cols])
		clear(row[cols:])
	}
}

// copyStripsPortable is the stripsFunc of portable.
func copyStripsPortable(dst *float32, strip int, src *float32, ld, k int) {
	for s := range stripGroup {
		copyRowsPortable(at(dst, s*strip), portableHeight, at(src, s*portableHeight), ld, k, portableHeight)
	}
}

// transposePortable packs rows whose elements lie ld apart:
//
//	dst[p*stride+j] = src[j*ld+p]    j < cols
//	dst[p*stride+j] = 0              cols <= j < stride
func transposePortable(dst *float32, stride int, src *float32, ld, k, cols int) {
	transposeElements(dst, stride, src, ld, 0, k, 0, cols)
	clearColumns(dst, stride, k, cols)
}

// transposeElements does p0 <= p < p1, j0 <= j < j1 of transposePortable.
func transposeElements(dst *float32, stride int, src *float32, ld, p0, p1, j0, j1 int) {
	if p0 == p1 || j0 == j1 {
		return
	}
	ds := unsafe.Slice(dst, (p1-1)*stride+j1)
	ss := unsafe.Slice(src, (j1-1)*ld+p1)
	for j := j0; j < j1; j++ {
		for p := p0; p < p1; p++ {
			ds[p*stride+j] = ss[j*ld+p]
		}
	}
}

// clearColumns sets dst[p*stride+j] = 0 for p < k, cols <= j < stride.
func clearColumns(dst *float32, stride, k, cols int) {
	if cols == stride {
		return
	}
	ds := unsafe.Slice(dst, k*stride)
	for p := range k {
		clear(ds[p*stride+cols : (p+1)*stride])
	}
}

// at is the element i places after p.
func at(p *float32, i int) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(p), 4*i))
}
