// The heart of ResMem: the weighted mean residual of a query's neighbors.
//
//   weight_i   = exp(-(d_i - d_0) / sigma)       d_0 the nearest: a tiny sigma never gives 0/0
//   correction = (sum_i weight_i r_i) * (1 / sum_i weight_i)
//
// Sums run over the neighbors in their order, in float32, product and sum rounded one by one.  The
// tuner takes the same steps in the same order, so that its decisions are bit for bit these.
#ifndef RESMEM_PREDICT_CORRECTION_H_
#define RESMEM_PREDICT_CORRECTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

// One query's neighbors with their weights.
struct WeightedNeighbors {
  std::span<const int64_t> rows;
  std::vector<float> weights;  // not normalized; the first is 1
  float scale = 0;             // 1 / sum of weights; 0 without neighbors
};

// Takes the first `k` of the neighbors that exist.  `out->weights` is reused between calls.
void WeighNeighbors(std::span<const int64_t> rows, std::span<const float> distances, int64_t k,
                    float sigma, WeightedNeighbors* out);

// sum[c] = sum_i weight_i y_i[c], the labels or targets in the place of residuals: k-NN.  To be
// multiplied by `scale`.
void SumAnswers(const ResidualMemory& memory, const WeightedNeighbors& neighbors,
                std::span<float> sum);

}  // namespace resmem

#endif  // RESMEM_PREDICT_CORRECTION_H_
