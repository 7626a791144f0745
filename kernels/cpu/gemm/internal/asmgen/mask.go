package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mask chooses the first lanes of a pair of registers.
type mask struct {
	set
	lane [2]reg.Register
}

// maskFor makes a mask of the first n lanes, 0 <= n <= 2*lanes.
func (s set) maskFor(n reg.Register) mask {
	m := mask{set: s}
	if s.lanes == 16 {
		bits := GP32()
		XORL(bits, bits)
		NOTL(bits)
		BZHIL(n.(reg.GPVirtual).As32(), bits, bits)
		for i := range m.lane {
			m.lane[i] = K()
			KMOVW(bits, m.lane[i])
			SHRL(U8(16), bits)
		}
		return m
	}
	// The eight words that end n words into the ones.
	table := GP64()
	LEAQ(masks, table)
	offset := GP64()
	MOVQ(n, offset)
	NEGQ(offset)
	for i := range m.lane {
		m.lane[i] = YMM()
		VMOVUPS(Mem{Base: table, Index: offset, Scale: 4, Disp: 4 * (2*s.lanes + i*s.lanes)}, m.lane[i])
	}
	return m
}

// load reads the chosen lanes of register i, and zero in the others.
func (m mask) load(i int, from Mem, to reg.Register) {
	if m.lanes == 16 {
		VMOVUPS_Z(from, m.lane[i], to)
	} else {
		VMASKMOVPS(from, m.lane[i], to)
	}
}

// store writes the chosen lanes of register i.
func (m mask) store(i int, from reg.Register, to Mem) {
	if m.lanes == 16 {
		VMOVUPS(from, m.lane[i], to)
	} else {
		VMASKMOVPS(from, m.lane[i], to)
	}
}

// masks is a table of 16 words of ones and 16 of zeros: eight words from 16-n on
// are the mask of the first n lanes.
var masks Mem

func maskTable() {
	masks = GLOBL("masks", 8|16) // RODATA|NOPTR
	for i := range 32 {
		v := uint32(0)
		if i < 16 {
			v = 0xffffffff
		}
		DATA(4*i, U32(v))
	}
}
