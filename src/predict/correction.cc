#include "predict/correction.h"

#include <algorithm>

#include "kernels/vector_math.h"
#include "memory/rows/stored_rows.h"

namespace resmem {

void WeighNeighbors(std::span<const int64_t> rows, std::span<const float> distances, int64_t k,
                    float sigma, WeightedNeighbors* out) {
  size_t count = static_cast<size_t>(std::min<int64_t>(k, static_cast<int64_t>(rows.size())));
  while (count > 0 && rows[count - 1] < 0) --count;  // fewer than k exist
  out->rows = rows.first(count);
  out->weights.resize(count);
  out->scale = 0;
  if (count == 0) return;
  NeighborWeights(distances.data(), static_cast<int64_t>(count), sigma, out->weights.data());
  float total = 0;
  for (float weight : out->weights) total += weight;
  out->scale = 1.0f / total;
}

void SumAnswers(const ResidualMemory& memory, const WeightedNeighbors& neighbors,
                std::span<float> sum) {
  std::fill(sum.begin(), sum.end(), 0.0f);
  const bool classify = memory.description().task == Task::kClassification;
  for (size_t i = 0; i < neighbors.rows.size(); ++i) {
    const int64_t row = neighbors.rows[i];
    if (classify) {
      sum[static_cast<size_t>(memory.label(row))] += neighbors.weights[i];
    } else {
      const std::span<const float> target = memory.stored_rows().target(row);
      AddScaled(neighbors.weights[i], target.data(), static_cast<int64_t>(target.size()),
                sum.data());
    }
  }
}

}  // namespace resmem
