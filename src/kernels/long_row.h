// Passes over a row of many values, as one of a whole vocabulary is: checked, summed up in double
// precision, its largest found.
//
// Every function gives the same result on every instruction set; sums run over 16 virtual lanes
// that are combined in one fixed order.  Arrays need no alignment.
#ifndef RESMEM_KERNELS_LONG_ROW_H_
#define RESMEM_KERNELS_LONG_ROW_H_

#include <cstdint>
#include <vector>

namespace resmem {

// Whether |x[i]| <= limit everywhere; a NaN is not.
bool AllWithin(const float* x, int64_t n, float limit);

// The sum of |x[i]| over those below `bound`; x is finite.
double SumMagnitudes(const float* x, int64_t n, float bound);

double SumOfSquares(const float* x, int64_t n);

// Sets `positions`, ascending, to those whose magnitude may be one of the `top` largest: all that
// are as large as one of these, and others.  Usually few; in a row of equal magnitudes all.
// 1 <= top <= n < 2^31, x is finite.
void FindLargeMagnitudes(const float* x, int64_t n, int64_t top, std::vector<int32_t>* positions);

}  // namespace resmem

#endif  // RESMEM_KERNELS_LONG_ROW_H_
