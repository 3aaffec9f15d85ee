// The residuals of stored logits, computed and added up in one go.
//
// The same bits on every instruction set: those of NegativeSoftmax(), of 1 added at the label, and
// of AddScaled() (kernels/vector_math.h), row after row.  Arrays need no alignment.
#ifndef RESMEM_MEMORY_RESIDUALS_SOFTMAX_RESIDUALS_H_
#define RESMEM_MEMORY_RESIDUALS_SOFTMAX_RESIDUALS_H_

#include <cstdint>

namespace resmem {

// Floats of scratch for rows of n logits.
constexpr int64_t ResidualScratch(int64_t n) {
  return 4 * ((n + 15) / 16 * 16);
}

// sum[i] += weights[j] * (onehot(labels[j]) - softmax(logits[j] / temperature))[i] for
// j = 0 .. count - 1 in order, 0 <= i < n.  Logits are finite, n >= 1, temperature > 0; a label
// that is not below n is none.
void AddSoftmaxResiduals(const float* weights, const float* const* logits,
                         const int32_t* const* labels, int64_t count, int64_t n, float temperature,
                         float* scratch, float* sum);

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_SOFTMAX_RESIDUALS_H_
