package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose generates a function that transposes squares of lanes x lanes. A
// register is seen as quarters of four elements. First each group g of four rows
// is transposed quarter by quarter, so that quarter q of part[g][c] holds these
// rows' elements of column 4q+c; then quarters are gathered from the groups.
func (s set) transpose() {
	name := s.prefix + "TransposeSquares"
	TEXT(name, NOSPLIT, "func(dst *float32, stride int, src *float32, ld, squares int)")
	Doc(name+" sets dst[p*stride+j] = src[j*ld+p] for j < the number of lanes and",
		"p < squares times that number.")
	Pragma("noescape")
	dst, stride := Load(Param("dst"), GP64()), bytes("stride")
	from := rowsFrom(Load(Param("src"), GP64()), bytes("ld"), s.lanes)
	squares := Load(Param("squares"), GP64())
	stride3 := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	to := rows{bases: []reg.Register{dst}, stride: stride, three: stride3}

	loop := name + "Next"
	Label(loop)
	part := make([][4]reg.Register, s.lanes/4)
	for g := range part {
		part[g] = s.quarters(from, 4*g)
	}
	columns := make([]reg.Register, s.lanes)
	for c := range 4 {
		if s.lanes == 16 {
			// 0x88 takes quarters 0 and 2 of each operand, 0xdd quarters 1 and 3.
			even01, odd01 := s.both(shuffleQuarters, 0x88, 0xdd, part[0][c], part[1][c])
			even23, odd23 := s.both(shuffleQuarters, 0x88, 0xdd, part[2][c], part[3][c])
			columns[c], columns[8+c] = s.both(shuffleQuarters, 0x88, 0xdd, even01, even23)
			columns[4+c], columns[12+c] = s.both(shuffleQuarters, 0x88, 0xdd, odd01, odd23)
		} else {
			// 0x20 takes quarter 0 of each operand, 0x31 quarter 1.
			columns[c], columns[4+c] = s.both(VPERM2F128, 0x20, 0x31, part[0][c], part[1][c])
		}
	}
	for p, column := range columns {
		VMOVUPS(column, to.row(p%4))
		if p%4 == 3 {
			LEAQ(Mem{Base: dst, Index: stride, Scale: 4}, dst)
		}
	}
	for _, base := range from.bases {
		ADDQ(Imm(uint64(4*s.lanes)), base)
	}
	DECQ(squares)
	JNZ(LabelRef(loop))
	VZEROUPPER()
	RET()
}

// quarters loads the four rows from i on and transposes them quarter by quarter.
func (s set) quarters(from rows, i int) [4]reg.Register {
	var row [4]reg.Register
	for r := range row {
		row[r] = s.register()
		VMOVUPS(from.row(i+r), row[r])
	}
	low := func(op func(...Op), x, y reg.Register) reg.Register {
		r := s.register()
		op(y, x, r)
		return r
	}
	lo01, hi01 := low(VUNPCKLPS, row[0], row[1]), low(VUNPCKHPS, row[0], row[1])
	lo23, hi23 := low(VUNPCKLPS, row[2], row[3]), low(VUNPCKHPS, row[2], row[3])
	return [4]reg.Register{
		low(VUNPCKLPD, lo01, lo23), low(VUNPCKHPD, lo01, lo23),
		low(VUNPCKLPD, hi01, hi23), low(VUNPCKHPD, hi01, hi23),
	}
}

// both shuffles x and y by the one and by the other immediate.
func (s set) both(op func(imm, y, x, dst Op), one, other U8, x, y reg.Register) (reg.Register, reg.Register) {
	r, t := s.register(), s.register()
	op(one, y, x, r)
	op(other, y, x, t)
	return r, t
}

func shuffleQuarters(imm, y, x, dst Op) { VSHUFF32X4(imm, y, x, dst) }
