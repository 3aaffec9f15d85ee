// The arithmetic of a blended answer over the classes (blend.h).
//
// The same bits on every instruction set, as kernels/vector_math.h: products and sums are rounded
// one by one, exponential and logarithm are our own.  Arrays need no alignment; n >= 1.
#ifndef RESMEM_PREDICT_BLEND_KERNELS_H_
#define RESMEM_PREDICT_BLEND_KERNELS_H_

#include <cstdint>

namespace resmem {

// out[i] = log x[i], within 2 units in the last place, of positive, normal, finite floats.
void Log(const float* x, int64_t n, float* out);

// p = softmax(logits / temperature), log_p its logarithm, and shifted = logits less the largest:
// log softmax(logits) but for a constant.  Logarithms are at least -1e4.
void BaseLogs(const float* logits, int64_t n, float temperature, float* shifted, float* p,
              float* log_p);

// out = log(sum + prior * p), log_p being the logarithm of p, which may be too small for a float.
// Where `sum` is not positive it counts as 0.
void LogMixture(const float* sum, float prior, const float* p, const float* log_p, int64_t n,
                float* out);

// out = b[0] parts[0] + b[1] parts[1] + b[2] parts[2] + b[3] parts[3], in this order.
void CombineParts(const float* b, const float* const* parts, int64_t n, float* out);

}  // namespace resmem

#endif  // RESMEM_PREDICT_BLEND_KERNELS_H_
