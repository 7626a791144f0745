package checkpoint

import (
	"encoding/binary"
	"math"
)

// DType is the type of a tensor's elements, as safetensors names it.
type DType string

// The types that become float32 without loss.
const (
	F32  DType = "F32"
	BF16 DType = "BF16"
	F16  DType = "F16"
)

// size is the bytes of one element, 0 for a type that is not supported.
func (d DType) size() int64 {
	switch d {
	case F32:
		return 4
	case BF16, F16:
		return 2
	}
	return 0
}

// decode fills dst from little-endian src of the same number of elements.
func (d DType) decode(dst []float32, src []byte) {
	switch d {
	case F32:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
		}
	case BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
		}
	case F16:
		for i := range dst {
			dst[i] = fromF16(binary.LittleEndian.Uint16(src[2*i:]))
		}
	}
}

// encode fills dst from src; BF16 rounds to nearest, ties to even.
func (d DType) encode(dst []byte, src []float32) {
	switch d {
	case F32:
		for i, v := range src {
			binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
		}
	case BF16:
		for i, v := range src {
			binary.LittleEndian.PutUint16(dst[2*i:], toBF16(v))
		}
	}
}

// toBF16 rounds to nearest, ties to even. What is beyond the largest bfloat16
// becomes infinite; a NaN stays one, with its payload cut and made quiet.
func toBF16(v float32) uint16 {
	bits := math.Float32bits(v)
	if v != v {
		return uint16(bits>>16) | 0x40
	}
	// Half of the last kept place, less one if that place is even.
	return uint16((bits + 0x7FFF + bits>>16&1) >> 16)
}

// fromF16 widens an IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction
// bits.
func fromF16(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent := uint32(h >> 10 & 0x1F)
	fraction := uint32(h & 0x3FF)
	switch exponent {
	case 0: // zero and subnormal: fraction x 2^-24, exact in float32
		return math.Float32frombits(math.Float32bits(float32(fraction)*0x1p-24) | sign)
	case 0x1F: // infinity and NaN
		return math.Float32frombits(sign | 0xFF<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
