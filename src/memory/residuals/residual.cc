#include "memory/residuals/residual.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/long_row.h"
#include "kernels/vector_math.h"
#include "support/check.h"

namespace resmem {

void ClassificationResidual(const float* logits, int64_t classes, int32_t label, float temperature,
                            float* out) {
  RESMEM_DCHECK(label >= 0 && label < classes);
  NegativeSoftmax(logits, classes, temperature, out);
  out[label] += 1.0f;
}

double SelectTop(const float* residual, int64_t classes, int64_t top, uint32_t* kept_classes,
                 float* kept_values) {
  RESMEM_DCHECK(top >= 1 && top <= classes);
  std::vector<int32_t> found;
  found.reserve(static_cast<size_t>(2 * top));
  FindLargeMagnitudes(residual, classes, top, &found);
  std::vector<float> magnitudes;
  magnitudes.reserve(found.size());
  for (const int32_t c : found) magnitudes.push_back(std::fabs(residual[c]));
  const auto last = magnitudes.begin() + (top - 1);
  std::nth_element(magnitudes.begin(), last, magnitudes.end(), std::greater<>());
  const float smallest = *last;
  // Of those as small as the smallest that is kept, the first classes are.
  int64_t equals = top - std::count_if(magnitudes.begin(), last,
                                       [&](float magnitude) { return magnitude > smallest; });
  int64_t kept = 0, equals_dropped = 0;
  for (const int32_t c : found) {
    const float magnitude = std::fabs(residual[c]);
    if (magnitude > smallest || (magnitude == smallest && equals-- > 0)) {
      kept_classes[kept] = static_cast<uint32_t>(c);
      kept_values[kept++] = residual[c];
    } else if (magnitude == smallest) {
      ++equals_dropped;
    }
  }
  RESMEM_DCHECK(kept == top);
  return SumMagnitudes(residual, classes, smallest) +
         static_cast<double>(equals_dropped) * static_cast<double>(smallest);
}

double ResidualMass(const float* residual, int64_t classes) {
  return SumMagnitudes(residual, classes, std::numeric_limits<float>::infinity()) / 2;
}

}  // namespace resmem
