// Brings every input column to mean 0 and deviation 1, by the training rows' statistics.
#ifndef RESMEM_LAB_BASE_MODEL_STANDARDIZER_H_
#define RESMEM_LAB_BASE_MODEL_STANDARDIZER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/matrix_view.h"
#include "resmem/status.h"

namespace resmem {

struct Standardizer {
  std::vector<float> mean;
  std::vector<float> scale;  // 1 / deviation; 0 for a column that never varies

  int64_t columns() const { return static_cast<int64_t>(mean.size()); }
  // out[i] = (input[i] - mean[i]) * scale[i], held within +-kStandardLimit.
  void Apply(const float* input, float* out) const;
};

// A column that hardly ever varies (a corner pixel) would else make one example's value huge,
// and with it every distance to that example.
inline constexpr float kStandardLimit = 5.0f;

// Of the rows named; `inputs` are finite.  The same bits for any number of threads.
Standardizer FitStandardizer(MatrixView inputs, std::span<const int64_t> rows, int threads);

// kBadData with row and column of the first value that is not finite.
Status CheckInputsFinite(MatrixView inputs, int threads);

}  // namespace resmem

#endif  // RESMEM_LAB_BASE_MODEL_STANDARDIZER_H_
