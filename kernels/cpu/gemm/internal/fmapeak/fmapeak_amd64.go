//go:build !noasm

package fmapeak

import "golang.org/x/sys/cpu"

func lanes() int {
	switch {
	case cpu.X86.HasAVX512F:
		return 16
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		return 8
	}
	return 0
}

// chains512 does rounds x 12 multiply-adds of 16 lanes in registers.
//
//go:noescape
func chains512(rounds int)

// chains256 does rounds x 12 multiply-adds of 8 lanes in registers.
//
//go:noescape
func chains256(rounds int)
