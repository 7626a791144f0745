package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile generates a tileFunc of the given number of rows.
func (s set) tile(rows int) {
	TEXT(fmt.Sprintf("%sTile%d", s.prefix, rows), NOSPLIT,
		"func(k int, a *float32, aRow, aCol int, b *float32, bRow int, c *float32, cRow, cols int, first bool)")
	Doc(fmt.Sprintf("%sTile%d is a tileFunc of %d rows.", s.prefix, rows, rows))
	Pragma("noescape")
	size := 4 * s.lanes // bytes in a register
	k := Load(Param("k"), GP64())
	aRow, aCol := bytes("aRow"), bytes("aCol")
	a := rowsFrom(Load(Param("a"), GP64()), aRow, rows)
	b, bRow := Load(Param("b"), GP64()), bytes("bRow")
	c, cRow := Load(Param("c"), GP64()), bytes("cRow")

	sum := make([][2]reg.Register, rows)
	for i := range sum {
		for h := range sum[i] {
			sum[i][h] = s.zero()
		}
	}
	// The tile of C is needed only after the loop.
	cs := rowsFrom(c, cRow, rows)
	for i := range rows {
		PREFETCHT0(cs.row(i))
		PREFETCHT0(cs.row(i).Offset(2*size - 1))
	}

	loop := fmt.Sprintf("%sTile%dTerm", s.prefix, rows)
	bs := [2]reg.Register{s.register(), s.register()}
	Label(loop)
	for h := range bs {
		VMOVUPS(Mem{Base: b, Disp: h * size}, bs[h])
	}
	for i := range rows {
		t := s.register()
		VBROADCASTSS(a.row(i), t)
		for h := range bs {
			VFMADD231PS(bs[h], t, sum[i][h])
		}
	}
	ADDQ(bRow, b)
	for _, base := range a.bases {
		ADDQ(aCol, base)
	}
	DECQ(k)
	JNZ(LabelRef(loop))

	m := s.maskFor(Load(Param("cols"), GP64()))
	first := Load(Param("first"), GP8())
	add, done := loop+"Add", loop+"Done"
	TESTB(first, first)
	JZ(LabelRef(add))
	for i := range rows {
		for h := range bs {
			m.store(h, sum[i][h], cs.row(i).Offset(h*size))
		}
	}
	JMP(LabelRef(done))
	Label(add)
	for i := range rows {
		for h := range bs {
			old := bs[h]
			m.load(h, cs.row(i).Offset(h*size), old)
			VADDPS(sum[i][h], old, old)
			m.store(h, old, cs.row(i).Offset(h*size))
		}
	}
	Label(done)
	VZEROUPPER()
	RET()
}

// zero allocates a register and clears it.
func (s set) zero() reg.Register {
	r := s.register()
	if s.lanes == 16 {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
	return r
}

// rows addresses equally spaced rows, four to a base register.
type rows struct {
	bases         []reg.Register
	stride, three reg.Register
}

// rowsFrom takes base, and makes what further registers n rows need. stride is
// in bytes.
func rowsFrom(base, stride reg.Register, n int) rows {
	r := rows{bases: []reg.Register{base}, stride: stride}
	if n > 3 {
		r.three = GP64()
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, r.three)
	}
	for i := 4; i < n; i += 4 {
		next := GP64()
		LEAQ(Mem{Base: r.bases[len(r.bases)-1], Index: stride, Scale: 4}, next)
		r.bases = append(r.bases, next)
	}
	return r
}

// row is the start of row i.
func (r rows) row(i int) Mem {
	m := Mem{Base: r.bases[i/4]}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = r.stride, 1
	case 2:
		m.Index, m.Scale = r.stride, 2
	case 3:
		m.Index, m.Scale = r.three, 1
	}
	return m
}
