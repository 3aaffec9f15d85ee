// Numbers of 16 bits with the exponent of a float: its upper half.
#ifndef RESMEM_KERNELS_BFLOAT16_H_
#define RESMEM_KERNELS_BFLOAT16_H_

#include <cstdint>

namespace resmem {

using Bfloat16 = uint16_t;  // its bits

// To the nearest, ties to even.  Not for NaN.
inline Bfloat16 ToBfloat16(float value) {
  const auto bits = __builtin_bit_cast(uint32_t, value);
  return static_cast<Bfloat16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float FromBfloat16(Bfloat16 value) {
  return __builtin_bit_cast(float, uint32_t{value} << 16);
}

}  // namespace resmem

#endif  // RESMEM_KERNELS_BFLOAT16_H_
