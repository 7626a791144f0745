//go:build !noasm

#include "textflag.h"

// func prefetchRows(p *float32, stride, rows, cols int)
TEXT ·prefetchRows(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), AX
	MOVQ stride+8(FP), BX
	MOVQ rows+16(FP), CX
	MOVQ cols+24(FP), DX
	SHLQ $2, BX
	SHLQ $2, DX

row:
	MOVQ AX, SI
	LEAQ (AX)(DX*1), DI

line:
	PREFETCHT1 (SI)
	ADDQ       $64, SI
	CMPQ       SI, DI
	JLT        line
	ADDQ       BX, AX
	DECQ       CX
	JNZ        row
	RET
