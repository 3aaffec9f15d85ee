// What a step of Newton's method needs of one row of a blend's sample.
//
// The same bits on every instruction set: products and sums are rounded one by one, and sums run
// over 8 lanes that are added in order.
#ifndef RESMEM_TUNE_BLEND_BLEND_MOMENTS_H_
#define RESMEM_TUNE_BLEND_BLEND_MOMENTS_H_

#include <cstddef>
#include <cstdint>

namespace resmem {

inline constexpr size_t kMostMomentParts = 4;

// eta[c] = b[0] parts[0][c] + b[1] parts[1][c] + ... of four parts, in this order, rounded to
// float.
void BlendEta(const double* b, const float* const* parts, int64_t classes, float* eta);

// For j < used and l <= j, one after the other:
//   sums[..] = sum over c of p[c] parts[j][c], then for each l of p[c] parts[j][c] parts[l][c].
// 1 <= used <= kMostMomentParts; `sums` holds used (used + 3) / 2 values.
void BlendMoments(const float* p, const float* const* parts, size_t used, int64_t classes,
                  double* sums);

}  // namespace resmem

#endif  // RESMEM_TUNE_BLEND_BLEND_MOMENTS_H_
