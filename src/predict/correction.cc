#include "predict/correction.h"

#include <algorithm>

#include "kernels/vector_math.h"
#include "memory/memory_parts.h"
#include "resmem/predictor.h"

namespace resmem {

size_t CountNeighbors(std::span<const int64_t> rows, int64_t k) {
  size_t count = static_cast<size_t>(std::min<int64_t>(k, static_cast<int64_t>(rows.size())));
  while (count > 0 && rows[count - 1] < 0) --count;
  return count;
}

void Weigh(std::span<const float> distances, float sigma, std::span<const size_t> stops,
           float* weights, float* scales) {
  const size_t count = distances.size();
  NeighborWeights(distances.data(), static_cast<int64_t>(count), sigma, weights);
  float total = 0;
  size_t at = 0;
  for (size_t j = 0; j < stops.size(); ++j) {
    for (; at < stops[j]; ++at) total += weights[at];
    scales[j] = count > 0 ? 1.0f / total : 0.0f;
  }
}

void WeighNeighbors(std::span<const int64_t> rows, std::span<const float> distances, int64_t k,
                    float sigma, WeightedNeighbors* out) {
  const size_t count = CountNeighbors(rows, k);
  out->rows = rows.first(count);
  out->weights.resize(count);
  Weigh(distances.first(count), sigma, {&count, 1}, out->weights.data(), &out->scale);
}

std::vector<float> WeightsOf(const Neighbors& neighbors, const Parameters& parameters) {
  std::vector<float> weights(neighbors.rows.size(), 0.0f);
  WeightedNeighbors weighted;
  for (int64_t q = 0; q < neighbors.queries; ++q) {
    WeighNeighbors(neighbors.rows_of(q), neighbors.distances_of(q), parameters.k, parameters.sigma,
                   &weighted);
    for (size_t i = 0; i < weighted.weights.size(); ++i) {
      weights[static_cast<size_t>(q * neighbors.k) + i] = weighted.weights[i] * weighted.scale;
    }
  }
  return weights;
}

void Correction::AddTo(float temperature, std::span<float> scores) {
  if (empty()) return;
  residual_sum_.AddTo(neighbors_.rows, neighbors_.weights, temperature, neighbors_.scale, scores);
}

void Correction::SumAnswers(std::span<float> sum) const {
  std::fill(sum.begin(), sum.end(), 0.0f);
  const bool classify = memory_->description().task == Task::kClassification;
  for (size_t i = 0; i < neighbors_.rows.size(); ++i) {
    const int64_t row = neighbors_.rows[i];
    if (classify) {
      sum[static_cast<size_t>(memory_->label(row))] += neighbors_.weights[i];
    } else {
      const std::span<const float> target = MemoryParts::Rows(*memory_).target(row);
      AddScaled(neighbors_.weights[i], target.data(), static_cast<int64_t>(target.size()),
                sum.data());
    }
  }
}

}  // namespace resmem
