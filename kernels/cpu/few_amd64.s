//go:build !noasm

#include "textflag.h"

// func score2(scores *float32, scoresRow int, q *float32, qRow, d int, keys, ahead *float32)
TEXT ·score2(SB), NOSPLIT, $0-56
	MOVQ scores+0(FP), DI
	MOVQ scoresRow+8(FP), DX
	MOVQ q+16(FP), AX
	MOVQ qRow+24(FP), BX
	MOVQ d+32(FP), CX
	MOVQ keys+40(FP), SI
	MOVQ ahead+48(FP), R8

	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7

scoreTerm:
	VBROADCASTSS (AX), Z12
	VBROADCASTSS (AX)(BX*4), Z13
	VMOVUPS      (SI), Z8
	VMOVUPS      64(SI), Z9
	VMOVUPS      128(SI), Z10
	VMOVUPS      192(SI), Z11
	PREFETCHT0   (R8)
	PREFETCHT0   64(R8)
	PREFETCHT0   128(R8)
	PREFETCHT0   192(R8)
	VFMADD231PS  Z8, Z12, Z0
	VFMADD231PS  Z9, Z12, Z1
	VFMADD231PS  Z10, Z12, Z2
	VFMADD231PS  Z11, Z12, Z3
	VFMADD231PS  Z8, Z13, Z4
	VFMADD231PS  Z9, Z13, Z5
	VFMADD231PS  Z10, Z13, Z6
	VFMADD231PS  Z11, Z13, Z7
	ADDQ         $4, AX
	ADDQ         $256, SI
	ADDQ         $256, R8
	DECQ         CX
	JNZ          scoreTerm

	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, 128(DI)
	VMOVUPS Z3, 192(DI)
	LEAQ    (DI)(DX*4), DI
	VMOVUPS Z4, (DI)
	VMOVUPS Z5, 64(DI)
	VMOVUPS Z6, 128(DI)
	VMOVUPS Z7, 192(DI)
	VZEROUPPER
	RET

// func weigh2(o *float32, oRow int, probs *float32, probsRow, d, n int, values, ahead *float32)
TEXT ·weigh2(SB), NOSPLIT, $0-64
	MOVQ o+0(FP), DI
	MOVQ oRow+8(FP), DX
	LEAQ (DI)(DX*4), R9
	MOVQ probsRow+24(FP), BX
	MOVQ d+32(FP), R10
	MOVQ values+48(FP), R11
	MOVQ ahead+56(FP), R12
	MOVQ R10, R13            // columns left
	SHLQ $2, R10             // bytes of a row of values

weighColumns:
	MOVQ   probs+16(FP), AX
	MOVQ   n+40(FP), CX
	MOVQ   R11, SI
	MOVQ   R12, R8
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3

weighTerm:
	VBROADCASTSS (AX), Z6
	VBROADCASTSS (AX)(BX*4), Z7
	VMOVUPS      (SI), Z4
	VMOVUPS      64(SI), Z5
	PREFETCHT0   (R8)
	PREFETCHT0   64(R8)
	VFMADD231PS  Z4, Z6, Z0
	VFMADD231PS  Z5, Z6, Z1
	VFMADD231PS  Z4, Z7, Z2
	VFMADD231PS  Z5, Z7, Z3
	ADDQ         $4, AX
	ADDQ         R10, SI
	ADDQ         R10, R8
	DECQ         CX
	JNZ          weighTerm

	// Both rows are read before either is written: they may be one row.
	VADDPS  (DI), Z0, Z0
	VADDPS  64(DI), Z1, Z1
	VADDPS  (R9), Z2, Z2
	VADDPS  64(R9), Z3, Z3
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, 64(DI)
	VMOVUPS Z2, (R9)
	VMOVUPS Z3, 64(R9)
	ADDQ    $128, DI
	ADDQ    $128, R9
	ADDQ    $128, R11
	ADDQ    $128, R12
	SUBQ    $32, R13
	JNZ     weighColumns
	VZEROUPPER
	RET
