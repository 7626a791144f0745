// The short vectors of CUDA, with its alignments.
#pragma once

#define EMULATOR_VECTORS(Type, base, align2, align4)                                                      \
  struct Type##1 { base x; };                                                                             \
  struct alignas(align2) Type##2 { base x, y; };                                                          \
  struct Type##3 { base x, y, z; };                                                                       \
  struct alignas(align4) Type##4 { base x, y, z, w; };                                                    \
  inline Type##1 make_##Type##1(base x) { return {x}; }                                                   \
  inline Type##2 make_##Type##2(base x, base y) { return {x, y}; }                                        \
  inline Type##3 make_##Type##3(base x, base y, base z) { return {x, y, z}; }                             \
  inline Type##4 make_##Type##4(base x, base y, base z, base w) { return {x, y, z, w}; }

EMULATOR_VECTORS(char, signed char, 2, 4)
EMULATOR_VECTORS(uchar, unsigned char, 2, 4)
EMULATOR_VECTORS(short, short, 4, 8)
EMULATOR_VECTORS(ushort, unsigned short, 4, 8)
EMULATOR_VECTORS(int, int, 8, 16)
EMULATOR_VECTORS(uint, unsigned, 8, 16)
EMULATOR_VECTORS(longlong, long long, 16, 16)
EMULATOR_VECTORS(ulonglong, unsigned long long, 16, 16)
EMULATOR_VECTORS(float, float, 8, 16)
EMULATOR_VECTORS(double, double, 16, 16)

#undef EMULATOR_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
