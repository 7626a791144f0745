package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

var constants = map[uint32]Mem{}

// constant is v in every lane of a register, in memory.
func constant(name string, v float32) Mem { return bits(name, math.Float32bits(v)) }

// bits is a word in every lane of a register, in memory.
func bits(name string, word uint32) Mem {
	m, ok := constants[word]
	if !ok {
		m = GLOBL(name, 8|16) // RODATA|NOPTR
		for i := range 16 {
			DATA(4*i, U32(word))
		}
		constants[word] = m
	}
	return m
}
