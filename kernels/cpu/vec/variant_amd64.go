//go:build !noasm

package vec

import "golang.org/x/sys/cpu"

//go:generate go run ./internal/asmgen -out kernels_amd64.s -stubs kernels_amd64.go -pkg vec

// variants lists what this processor can run, the fastest first.
func variants() []*variant {
	var list []*variant
	if cpu.X86.HasAVX512F && cpu.X86.HasBMI2 {
		list = append(list, &avx512)
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, &avx2)
	}
	return append(list, &portable)
}

var avx512 = variant{
	name:              "avx512",
	axpy:              avx512Axpy,
	scale:             avx512Scale,
	add:               avx512Add,
	dot:               avx512Dot,
	dot3:              avx512Dot3,
	sumSquares:        avx512SumSquares,
	largest:           avx512Max,
	exp:               avx512Exp,
	expSum:            avx512ExpSum,
	sumExp:            avx512SumExp,
	siluGate:          avx512SiLUGate,
	siluGateBackward:  avx512SiLUGateBackward,
	normalize:         avx512Normalize,
	normalizeBackward: avx512NormalizeBackward,
	adamW:             avx512AdamW,
}

var avx2 = variant{
	name:              "avx2",
	axpy:              avx2Axpy,
	scale:             avx2Scale,
	add:               avx2Add,
	dot:               avx2Dot,
	dot3:              avx2Dot3,
	sumSquares:        avx2SumSquares,
	largest:           avx2Max,
	exp:               avx2Exp,
	expSum:            avx2ExpSum,
	sumExp:            avx2SumExp,
	siluGate:          avx2SiLUGate,
	siluGateBackward:  avx2SiLUGateBackward,
	normalize:         avx2Normalize,
	normalizeBackward: avx2NormalizeBackward,
	adamW:             avx2AdamW,
}
