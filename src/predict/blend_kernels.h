// The arithmetic of a blended answer over the classes (blend.h).
//
// The same bits on every instruction set, as kernels/vector_math.h: products and sums are rounded
// one by one, exponential and logarithm are our own.  Arrays need no alignment; n >= 1.
#ifndef RESMEM_PREDICT_BLEND_KERNELS_H_
#define RESMEM_PREDICT_BLEND_KERNELS_H_

#include <cstdint>

namespace resmem {

// A class less likely than this is out of the question; finite, so that no product is NaN.
inline constexpr float kLeastLog = -1e4f;

// out[i] = log x[i], within 2 units in the last place, of positive, normal, finite floats.
void Log(const float* x, int64_t n, float* out);

// What is common to all classes.
struct BaseShape {
  float largest = 0;  // logit
  float total = 1;    // of the exponentials
  // Standard deviation of the logits, each at most 1e4 from the middle one of three.
  float spread = 0;
};
// e = exp((logits - the largest) / temperature)
BaseShape BaseExponentials(const float* logits, int64_t n, float temperature, float* e);

// p = softmax(logits / temperature), log_p its logarithm, and shifted = logits less the largest:
// log softmax(logits) but for a constant.  Logarithms are at least -1e4.  Returns the spread.
float BaseLogs(const float* logits, int64_t n, float temperature, float* shifted, float* p,
               float* log_p);

// A blended answer in log space in one pass, the same as by BaseLogs(), LogMixture() and
// CombineParts() but for rounding, of all classes that are no neighbor's label.
struct EtaTerms {
  float b[4] = {};
  float prior = 1, base_temperature = 1;
  BaseShape shape;  // by BaseExponentials() at that temperature
  float scale = 1;  // A - B = scale * sum
};
// Leaves `sum` all 0.
void EtaWithoutLabels(const EtaTerms& terms, const float* logits, const float* e, int64_t n,
                      float* sum, float* eta);

// out = log(sum + prior * p), log_p being the logarithm of p, which may be too small for a float.
// Where `sum` is not positive it counts as 0.
void LogMixture(const float* sum, float prior, const float* p, const float* log_p, int64_t n,
                float* out);

// out = b[0] parts[0] + b[1] parts[1] + b[2] parts[2] + b[3] parts[3], in this order.
void CombineParts(const float* b, const float* const* parts, int64_t n, float* out);

}  // namespace resmem

#endif  // RESMEM_PREDICT_BLEND_KERNELS_H_
