// The distance that decides who is near.
#ifndef RESMEM_KERNELS_SQUARED_DISTANCE_H_
#define RESMEM_KERNELS_SQUARED_DISTANCE_H_

#include <cstdint>

namespace resmem {

// sum of (a[i] - b[i])^2 in double: each difference, product and sum is rounded to double by
// itself; term i goes to lane i % 16; then lane l takes in lane l + 8, l + 4, l + 2, l + 1.
// The same bits on every instruction set.  Never overflows for finite floats.
// `next`: n more numbers that will be asked for soon and are on their way meanwhile; null: none.
double SquaredDistance(const float* a, const float* b, int64_t n, const float* next = nullptr);

// The same in float, term i in lane i % 32: quicker, for what only places rows that others measure.
// The same bits everywhere, too; infinite where it is beyond float.
float RoughSquaredDistance(const float* a, const float* b, int64_t n, const float* next = nullptr);

}  // namespace resmem

#endif  // RESMEM_KERNELS_SQUARED_DISTANCE_H_
