//go:build !noasm

package gemm

import "golang.org/x/sys/cpu"

//go:generate go run ./internal/asmgen -out kernels_amd64.s -stubs kernels_amd64.go -pkg gemm

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
	name:   "avx512",
	height: 12,
	width:  32,
	tiles: []tileFunc{nil, avx512Tile1, avx512Tile2, avx512Tile3, avx512Tile4, avx512Tile5, avx512Tile6,
		avx512Tile7, avx512Tile8, avx512Tile9, avx512Tile10, avx512Tile11, avx512Tile12},
	copyRows: avx512CopyRows, copyStrips: avx512CopyStrips,
	transpose: func(dst *float32, stride int, src *float32, ld, k, cols int) {
		transposeBySquares(16, avx512TransposeSquares, dst, stride, src, ld, k, cols)
	},
}

var avx2 = variant{
	name:     "avx2",
	height:   6,
	width:    16,
	tiles:    []tileFunc{nil, avx2Tile1, avx2Tile2, avx2Tile3, avx2Tile4, avx2Tile5, avx2Tile6},
	copyRows: avx2CopyRows, copyStrips: avx2CopyStrips,
	transpose: func(dst *float32, stride int, src *float32, ld, k, cols int) {
		transposeBySquares(8, avx2TransposeSquares, dst, stride, src, ld, k, cols)
	},
}
