// Keys of 4 bits a value around a center: value = center + scale * (number - 7.5), number 0 .. 15.
//
// Byte i of a row holds the number of value 2 i in its lower four bits and that of value 2 i + 1 in
// the upper ones.  The same bits on every machine.
#ifndef RESMEM_KERNELS_INT4_KEYS_H_
#define RESMEM_KERNELS_INT4_KEYS_H_

#include <cstdint>

namespace resmem {

// Of a row of n values.
constexpr int64_t Int4Bytes(int64_t n) {
  return n / 2 + n % 2;
}

// Magnitudes of values and centers, and scales, so that nothing overflows on the way.
inline constexpr float kLargestInt4 = 0x1p100f;

// out[i] = center[i] + scale * (number i - 7.5), product and sum rounded to float each.
void Int4ToFloat(const uint8_t* packed, int64_t n, float scale, const float* center, float* out);

// `codes` as QuantizeHalfBytes() makes them, 16 number - 120; scale is then 16 times its.
void PackInt4(const int8_t* codes, int64_t n, uint8_t* packed);

}  // namespace resmem

#endif  // RESMEM_KERNELS_INT4_KEYS_H_
