package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chunk gives a loop body access to one register's worth of elements, in the
// last round to fewer.
type chunk struct {
	set
	// mask chooses the elements that exist; nil chooses all.
	mask reg.Register
}

// load reads elements; those that do not exist are 0.
func (c chunk) load(from reg.Register, disp int) reg.Register {
	v := c.register()
	m := Mem{Base: from, Disp: disp}
	switch {
	case c.mask == nil:
		VMOVUPS(m, v)
	case c.wide():
		VMOVUPS_Z(m, c.mask, v)
	default:
		VMASKMOVPS(m, c.mask, v)
	}
	return v
}

// store writes the elements that exist.
func (c chunk) store(v, to reg.Register, disp int) {
	m := Mem{Base: to, Disp: disp}
	switch {
	case c.mask == nil:
		VMOVUPS(v, m)
	case c.wide():
		VMOVUPS(v, c.mask, m)
	default:
		VMASKMOVPS(v, c.mask, m)
	}
}

// only clears the elements that do not exist.
func (c chunk) only(v reg.Register) {
	switch {
	case c.mask == nil:
	case c.wide():
		VMOVAPS_Z(v, c.mask, v)
	default:
		VANDPS(c.mask, v, v)
	}
}

// maskFor makes the mask of the first n lanes, 0 < n < lanes.
func (s set) maskFor(n reg.Register) reg.Register {
	if s.wide() {
		ones, k := GP32(), K()
		XORL(ones, ones)
		NOTL(ones)
		BZHIL(n.(reg.GPVirtual).As32(), ones, ones)
		KMOVW(ones, k)
		return k
	}
	// Lane i exists where i < n.
	mask, count := YMM(), n.(reg.GPVirtual)
	x := XMM()
	VMOVD(count.As32(), x)
	VPBROADCASTD(x, mask)
	VPCMPGTD(indexes(), mask, mask)
	return mask
}

// indexes holds 0, 1, ..., 7.
func indexes() Mem {
	if table.Symbol.Name == "" {
		table = GLOBL("indexes", 8|16)
		for i := range 8 {
			DATA(4*i, U32(uint32(i)))
		}
	}
	return table
}

var table Mem

// each runs body over n elements, a register at a time. The pointers advance.
func (s set) each(name string, n reg.Register, pointers []reg.Register, body func(chunk)) {
	loop, tail, done := s.prefix+name+"Loop", s.prefix+name+"Tail", s.prefix+name+"Done"
	Label(loop)
	CMPQ(n, Imm(uint64(s.lanes)))
	JLT(LabelRef(tail))
	body(chunk{set: s})
	for _, p := range pointers {
		ADDQ(Imm(uint64(4*s.lanes)), p)
	}
	SUBQ(Imm(uint64(s.lanes)), n)
	JMP(LabelRef(loop))
	Label(tail)
	TESTQ(n, n)
	JZ(LabelRef(done))
	body(chunk{set: s, mask: s.maskFor(n)})
	Label(done)
}

// args loads the named pointer parameters.
func args(names ...string) []reg.Register {
	rs := make([]reg.Register, len(names))
	for i, name := range names {
		rs[i] = Load(Param(name), GP64())
	}
	return rs
}

// scalar loads a float32 parameter into every lane.
func (s set) scalar(name string) reg.Register {
	a, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	v := s.register()
	VBROADCASTSS(a.Addr, v)
	return v
}
