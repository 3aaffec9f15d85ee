// Numbers of 16 bits with the exponent of a float: stored as the float's upper half.
#ifndef RESMEM_TRAIN_BFLOAT16_H_
#define RESMEM_TRAIN_BFLOAT16_H_

#include <bit>
#include <cstdint>

namespace resmem::train {

using Bfloat16 = uint16_t;

// To the nearest, ties to even.  Not for NaN.
inline Bfloat16 ToBfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<Bfloat16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline float ToFloat(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

}  // namespace resmem::train

#endif  // RESMEM_TRAIN_BFLOAT16_H_
