#include "residual/residual.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/vector_math.h"
#include "support/check.h"

namespace resmem {

void ClassificationResidual(const float* logits, int64_t classes, int32_t label, float temperature,
                            float* out) {
  RESMEM_DCHECK(label >= 0 && label < classes);
  Softmax(logits, classes, temperature, out);
  for (int64_t c = 0; c < classes; ++c) out[c] = -out[c];
  out[label] += 1.0f;
}

double SelectTop(const float* residual, int64_t classes, int64_t top, uint32_t* kept_classes,
                 float* kept_values) {
  RESMEM_DCHECK(top >= 1 && top <= classes);
  std::vector<uint32_t> order(static_cast<size_t>(classes));
  std::iota(order.begin(), order.end(), 0u);
  const auto larger = [residual](uint32_t a, uint32_t b) {
    const float magnitude_a = std::fabs(residual[a]), magnitude_b = std::fabs(residual[b]);
    return magnitude_a != magnitude_b ? magnitude_a > magnitude_b : a < b;
  };
  std::nth_element(order.begin(), order.begin() + (top - 1), order.end(), larger);
  std::sort(order.begin(), order.begin() + top);
  for (int64_t i = 0; i < top; ++i) {
    kept_classes[i] = order[static_cast<size_t>(i)];
    kept_values[i] = residual[kept_classes[i]];
  }
  // Summed in order of class, so that the figure does not depend on how nth_element shuffles.
  std::sort(order.begin() + top, order.end());
  double dropped = 0;
  for (int64_t i = top; i < classes; ++i)
    dropped += std::fabs(residual[order[static_cast<size_t>(i)]]);
  return dropped;
}

double ResidualMass(const float* residual, int64_t classes) {
  double mass = 0;
  for (int64_t c = 0; c < classes; ++c) mass += std::fabs(residual[c]);
  return mass / 2;
}

}  // namespace resmem
