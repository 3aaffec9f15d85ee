// The product of transformer/bfloat16.h by the instruction that multiplies pairs of 16-bit numbers
// (AVX512-BF16), for processors that have it and no matrix unit.
#ifndef RESMEM_TRANSFORMER_BFLOAT16_PAIRS_H_
#define RESMEM_TRANSFORMER_BFLOAT16_PAIRS_H_

#include <cstdint>

#include "transformer/bfloat16.h"

namespace resmem {

bool PairProductsAvailable();

// As Multiply().  Requires PairProductsAvailable().
void MultiplyByPairs(int64_t rows, int64_t columns, int64_t inner, const Bfloat16* a,
                     int64_t a_stride, Panels b, bool add, float* c, int64_t c_stride);

}  // namespace resmem

#endif  // RESMEM_TRANSFORMER_BFLOAT16_PAIRS_H_
