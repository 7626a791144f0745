//go:build !noasm

#include "textflag.h"

// Constants of exp(x) = 2^k * exp(r), k = round(x/ln 2), r = x - k*ln 2 in two
// parts, exp(r) = 1 + r + r^2*P(r). P is the polynomial of Moshier's Cephes
// expf, error below 1 ulp for |r| <= ln(2)/2.
DATA expConstants<>+0(SB)/4, $0x3fb8aa3b  // 1/ln 2
DATA expConstants<>+4(SB)/4, $0x3f318000  // ln 2, upper part 0.693359375
DATA expConstants<>+8(SB)/4, $0xb95e8083  // ln 2, rest -2.12194440e-4
DATA expConstants<>+12(SB)/4, $0x39506967 // 1.9875691500e-4
DATA expConstants<>+16(SB)/4, $0x3ab743ce // 1.3981999507e-3
DATA expConstants<>+20(SB)/4, $0x3c088908 // 8.3334519073e-3
DATA expConstants<>+24(SB)/4, $0x3d2aa9c1 // 4.1665795894e-2
DATA expConstants<>+28(SB)/4, $0x3e2aaaaa // 1.6666665459e-1
DATA expConstants<>+32(SB)/4, $0x3f000000 // 5.0000001201e-1
DATA expConstants<>+36(SB)/4, $0x3f800000 // 1
DATA expConstants<>+40(SB)/4, $0xc2dc0000 // -110: exp is 0 from here down
DATA expConstants<>+44(SB)/4, $0xff800000 // -Inf
GLOBL expConstants<>(SB), RODATA|NOPTR, $48

#define LOADCONSTANTS \
	VBROADCASTSS expConstants<>+0(SB), Z20  \
	VBROADCASTSS expConstants<>+4(SB), Z21  \
	VBROADCASTSS expConstants<>+8(SB), Z22  \
	VBROADCASTSS expConstants<>+12(SB), Z23 \
	VBROADCASTSS expConstants<>+16(SB), Z24 \
	VBROADCASTSS expConstants<>+20(SB), Z25 \
	VBROADCASTSS expConstants<>+24(SB), Z26 \
	VBROADCASTSS expConstants<>+28(SB), Z27 \
	VBROADCASTSS expConstants<>+32(SB), Z28 \
	VBROADCASTSS expConstants<>+36(SB), Z29 \
	VBROADCASTSS expConstants<>+40(SB), Z30

// EXP replaces x by exp(x). k and p are scratch. A NaN stays one: VMAXPS gives
// its second source, the first operand here, when either is NaN.
#define EXP(x, k, p) \
	VMAXPS       x, Z30, x    \
	VMULPS       Z20, x, k    \
	VRNDSCALEPS  $8, k, k     \
	VFNMADD231PS Z21, k, x    \
	VFNMADD231PS Z22, k, x    \
	VMOVAPS      Z23, p       \
	VFMADD213PS  Z24, x, p    \
	VFMADD213PS  Z25, x, p    \
	VFMADD213PS  Z26, x, p    \
	VFMADD213PS  Z27, x, p    \
	VFMADD213PS  Z28, x, p    \
	VMULPS       x, p, p      \
	VFMADD213PS  x, x, p      \
	VADDPS       Z29, p, p    \
	VSCALEFPS    k, p, x

// MASKS sets K1..K4 to the lanes below AX of 64. BZHI keeps all bits when AX is
// 64. It spoils BX.
#define MASKS \
	MOVQ  $-1, BX    \
	BZHIQ AX, BX, BX \
	KMOVW BX, K1     \
	SHRQ  $16, BX    \
	KMOVW BX, K2     \
	SHRQ  $16, BX    \
	KMOVW BX, K3     \
	SHRQ  $16, BX    \
	KMOVW BX, K4

// func softmax64(scores *float32, n int, maximum float32) (newMaximum, sum float32)
TEXT ·softmax64(SB), NOSPLIT, $0-32
	MOVQ scores+0(FP), DI
	MOVQ n+8(FP), AX
	MASKS
	LOADCONSTANTS

	VBROADCASTSS expConstants<>+44(SB), Z0
	VMOVAPS      Z0, Z1
	VMOVAPS      Z0, Z2
	VMOVAPS      Z0, Z3
	VMOVUPS      (DI), K1, Z0
	VMOVUPS      64(DI), K2, Z1
	VMOVUPS      128(DI), K3, Z2
	VMOVUPS      192(DI), K4, Z3

	VMAXPS        Z0, Z1, Z4
	VMAXPS        Z2, Z3, Z5
	VMAXPS        Z4, Z5, Z4
	VEXTRACTF64X4 $1, Z4, Y5
	VMAXPS        Y5, Y4, Y4
	VEXTRACTF128  $1, Y4, X5
	VMAXPS        X5, X4, X4
	VPERMILPS     $0x4e, X4, X5
	VMAXPS        X5, X4, X4
	VPERMILPS     $0xb1, X4, X5
	VMAXPS        X5, X4, X4
	VMOVSS        maximum+16(FP), X5
	VMAXSS        X5, X4, X4
	VMOVSS        X4, newMaximum+24(FP)

	// What is not seen becomes exp(0) for now: the exponential of -Inf would go
	// through denormal numbers, which take the processor a hundred cycles.
	VBROADCASTSS X4, Z4
	VSUBPS.Z     Z4, Z0, K1, Z0
	VSUBPS.Z     Z4, Z1, K2, Z1
	VSUBPS.Z     Z4, Z2, K3, Z2
	VSUBPS.Z     Z4, Z3, K4, Z3
	EXP(Z0, Z5, Z6)
	EXP(Z1, Z7, Z8)
	EXP(Z2, Z9, Z10)
	EXP(Z3, Z11, Z12)
	VMOVAPS.Z    Z0, K1, Z0
	VMOVAPS.Z    Z1, K2, Z1
	VMOVAPS.Z    Z2, K3, Z2
	VMOVAPS.Z    Z3, K4, Z3
	VMOVUPS      Z0, (DI)
	VMOVUPS      Z1, 64(DI)
	VMOVUPS      Z2, 128(DI)
	VMOVUPS      Z3, 192(DI)

	VADDPS        Z1, Z0, Z0
	VADDPS        Z3, Z2, Z2
	VADDPS        Z2, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPS        Y1, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VADDPS        X1, X0, X0
	VPERMILPS     $0x4e, X0, X1
	VADDPS        X1, X0, X0
	VPERMILPS     $0xb1, X0, X1
	VADDPS        X1, X0, X0
	VMOVSS        X0, sum+28(FP)
	VZEROUPPER
	RET

// func softmaxGrad64(scores, d *float32, n int, lse, delta float32)
TEXT ·softmaxGrad64(SB), NOSPLIT, $0-32
	MOVQ scores+0(FP), DI
	MOVQ d+8(FP), SI
	MOVQ n+16(FP), AX
	MASKS
	LOADCONSTANTS
	VBROADCASTSS lse+24(FP), Z4
	VBROADCASTSS delta+28(FP), Z13

	VMOVUPS   (DI), Z0
	VMOVUPS   64(DI), Z1
	VMOVUPS   128(DI), Z2
	VMOVUPS   192(DI), Z3
	VSUBPS.Z  Z4, Z0, K1, Z0
	VSUBPS.Z  Z4, Z1, K2, Z1
	VSUBPS.Z  Z4, Z2, K3, Z2
	VSUBPS.Z  Z4, Z3, K4, Z3
	EXP(Z0, Z5, Z6)
	EXP(Z1, Z7, Z8)
	EXP(Z2, Z9, Z10)
	EXP(Z3, Z11, Z12)
	VMOVAPS.Z Z0, K1, Z0
	VMOVAPS.Z Z1, K2, Z1
	VMOVAPS.Z Z2, K3, Z2
	VMOVAPS.Z Z3, K4, Z3
	VMOVUPS   Z0, (DI)
	VMOVUPS   Z1, 64(DI)
	VMOVUPS   Z2, 128(DI)
	VMOVUPS   Z3, 192(DI)

	VMOVUPS  (SI), Z5
	VMOVUPS  64(SI), Z6
	VMOVUPS  128(SI), Z7
	VMOVUPS  192(SI), Z8
	VSUBPS   Z13, Z5, Z5
	VSUBPS   Z13, Z6, Z6
	VSUBPS   Z13, Z7, Z7
	VSUBPS   Z13, Z8, Z8
	VMULPS.Z Z0, Z5, K1, Z5
	VMULPS.Z Z1, Z6, K2, Z6
	VMULPS.Z Z2, Z7, K3, Z7
	VMULPS.Z Z3, Z8, K4, Z8
	VMOVUPS  Z5, (SI)
	VMOVUPS  Z6, 64(SI)
	VMOVUPS  Z7, 128(SI)
	VMOVUPS  Z8, 192(SI)
	VZEROUPPER
	RET
