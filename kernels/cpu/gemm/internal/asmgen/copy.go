package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// copyRows generates the packFunc for adjacent elements.
func (s set) copyRows() {
	name := s.prefix + "CopyRows"
	TEXT(name, NOSPLIT, "func(dst *float32, stride int, src *float32, ld, k, cols int)")
	Doc(name + " is copyRowsPortable for stride <= the width of a panel.")
	Pragma("noescape")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	stride := Load(Param("stride"), GP64())
	in := s.maskFor(Load(Param("cols"), GP64()))
	out := s.maskFor(stride)
	ld, k := bytes("ld"), Load(Param("k"), GP64())
	narrow := name + "Narrow"
	CMPQ(stride, Imm(uint64(s.lanes)))
	SHLQ(U8(2), stride)
	JLE(LabelRef(narrow))
	s.copyLoop(name+"Row", in, out, dst, stride, src, ld, k, 2)
	Label(narrow)
	s.copyLoop(name+"NarrowRow", in, out, dst, stride, src, ld, k, 1)
}

// copyLoop copies k rows of the given number of registers and returns. A strip
// of A is one register wide: its second would be empty, but reading it would
// fetch a line of memory all the same.
func (s set) copyLoop(loop string, in, out mask, dst, stride, src, ld, k reg.Register, registers int) {
	Label(loop)
	for h := range registers {
		v := s.register()
		in.load(h, Mem{Base: src, Disp: 4 * h * s.lanes}, v)
		out.store(h, v, Mem{Base: dst, Disp: 4 * h * s.lanes})
	}
	ADDQ(ld, src)
	ADDQ(stride, dst)
	DECQ(k)
	JNZ(LabelRef(loop))
	VZEROUPPER()
	RET()
}

// stripGroup is the number of strips that copyStrips packs together. 4 strips of
// 12 rows are three whole lines of memory.
const stripGroup = 4

// copyStrips generates the function that packs full strips of a transposed A.
func (s set) copyStrips() {
	name := s.prefix + "CopyStrips"
	TEXT(name, NOSPLIT, "func(dst *float32, strip int, src *float32, ld, k int)")
	Doc(name + " is copyStripsPortable for the height of this variant.")
	Pragma("noescape")
	dst := rowsFrom(Load(Param("dst"), GP64()), bytes("strip"), stripGroup)
	src, ld, k := Load(Param("src"), GP64()), bytes("ld"), Load(Param("k"), GP64())
	height := GP64()
	MOVQ(U32(s.height), height)
	m := s.maskFor(height)
	loop := name + "Row"
	Label(loop)
	for i := range stripGroup {
		v := s.register()
		m.load(0, Mem{Base: src, Disp: 4 * i * s.height}, v)
		m.store(0, v, dst.row(i))
	}
	ADDQ(ld, src)
	ADDQ(Imm(uint64(4*s.height)), dst.bases[0])
	DECQ(k)
	JNZ(LabelRef(loop))
	VZEROUPPER()
	RET()
}
