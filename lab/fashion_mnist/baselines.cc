#include "baselines.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace resmem::examples {
namespace {

std::vector<float> Softmax(std::span<const float> logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  std::vector<float> result;
  float sum = 0;
  for (const float logit : logits) sum += result.emplace_back(std::exp(logit - largest));
  for (float& value : result) value /= sum;
  return result;
}

int64_t ArgMaxOf(std::span<const float> votes, float votes_sum, std::span<const float> base,
                 float lambda) {
  int64_t best = 0;
  float best_score = -1;
  for (size_t c = 0; c < votes.size(); ++c) {
    const float score = (1 - lambda) * base[c] + lambda * votes[c] / votes_sum;
    if (score > best_score) best = static_cast<int64_t>(c), best_score = score;
  }
  return best;
}

}  // namespace

MixingChoice ChooseMixing(const Queries& queries, std::span<const int32_t> memory_labels,
                          const Grid& grid, std::span<const float> lambdas) {
  std::vector<int64_t> correct(grid.sigma.size() * grid.k.size() * lambdas.size());
  std::vector<float> votes(static_cast<size_t>(queries.logits.columns));
  for (int64_t q = 0; q < queries.logits.rows; ++q) {
    const std::vector<float> base = Softmax(queries.logits.row_span(q));
    const auto rows = queries.neighbors.rows_of(q);
    const auto distances = queries.neighbors.distances_of(q);
    size_t point = 0;
    for (const float sigma : grid.sigma) {
      std::fill(votes.begin(), votes.end(), 0.0f);
      float sum = 0;
      size_t neighbor = 0;
      for (const int64_t k : grid.k) {  // ascending: each adds to the votes of the one before
        for (; neighbor < static_cast<size_t>(k); ++neighbor) {
          const float weight = std::exp((distances[0] - distances[neighbor]) / sigma);
          votes[static_cast<size_t>(memory_labels[static_cast<size_t>(rows[neighbor])])] += weight;
          sum += weight;
        }
        for (const float lambda : lambdas) {
          correct[point++] +=
              ArgMaxOf(votes, sum, base, lambda) == queries.labels[static_cast<size_t>(q)];
        }
      }
    }
  }
  const auto best =
      static_cast<size_t>(std::max_element(correct.begin(), correct.end()) - correct.begin());
  const size_t per_sigma = grid.k.size() * lambdas.size();
  return {grid.k[best % per_sigma / lambdas.size()], grid.sigma[best / per_sigma],
          lambdas[best % lambdas.size()], correct[best]};
}

}  // namespace resmem::examples
