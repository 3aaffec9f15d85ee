// The heart of ResMem: the weighted mean residual of a query's neighbors.
//
// clang-format off
//   weigh   weight_i   = exp(-(d_i - d_0) / sigma)     d_0: the nearest, so that nothing is 0/0
//   sum     correction = (sum_i weight_i r_i) * (1 / sum_i weight_i)
//   add     score      = softmax(f / T) + correction
// clang-format on
//
// Sums run over the neighbors in their order, in float32, product and sum rounded one by one.
// Predictor and evaluation come through here.  The tuner and the explanation weigh here and add up
// on their own, one for all k at once and one for each neighbor apart, in the same order: tests
// hold them to the same bits.  reference_prediction.h is the same in plain words.
#ifndef RESMEM_PREDICT_CORRECTION_H_
#define RESMEM_PREDICT_CORRECTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "memory/residuals/residual_sum.h"
#include "resmem/residual_memory.h"

namespace resmem {

// How many of the first `k` neighbors exist: the rest of a line is -1.
size_t CountNeighbors(std::span<const int64_t> rows, int64_t k);

// Weighs all `distances` into `weights`; scales[j] = 1 / sum of the first stops[j] weights, 0
// without neighbors.  Stops ascend and are at most the distances.
void Weigh(std::span<const float> distances, float sigma, std::span<const size_t> stops,
           float* weights, float* scales);

// One query's neighbors with their weights.
struct WeightedNeighbors {
  std::span<const int64_t> rows;
  std::vector<float> weights;  // not normalized; the first is 1
  float scale = 0;             // 1 / sum of weights; 0 without neighbors
};

// Takes the first `k` of the neighbors that exist.  `out->weights` is reused between calls.
void WeighNeighbors(std::span<const int64_t> rows, std::span<const float> distances, int64_t k,
                    float sigma, WeightedNeighbors* out);

// The three steps for one query after the other; allocates nothing once it has met the largest k.
// One object serves one thread.
class Correction {
 public:
  explicit Correction(const ResidualMemory& memory) : memory_(&memory), residual_sum_(memory) {}
  Correction(const ResidualMemory& memory, ResidualCache* cache)
      : memory_(&memory), residual_sum_(memory, cache) {}

  void Weigh(std::span<const int64_t> rows, std::span<const float> distances,
             const Parameters& parameters) {
    WeighNeighbors(rows, distances, parameters.k, parameters.sigma, &neighbors_);
  }
  const WeightedNeighbors& neighbors() const { return neighbors_; }
  bool empty() const { return neighbors_.rows.empty(); }

  // scores += the weighted mean residual; untouched without neighbors.
  void AddTo(float temperature, std::span<float> scores);

  // What AddTo() adds, before it is multiplied by neighbors().scale: to be left all 0.
  std::span<float> Sum(float temperature, const float* beside) {
    return residual_sum_.Sum(neighbors_.rows, neighbors_.weights, temperature, beside);
  }

  // sum[c] = sum_i weight_i y_i[c], the labels or targets in the place of residuals: k-NN.  To be
  // multiplied by neighbors().scale.
  void SumAnswers(std::span<float> sum) const;

 private:
  const ResidualMemory* memory_;
  WeightedNeighbors neighbors_;
  ResidualSum residual_sum_;
};

}  // namespace resmem

#endif  // RESMEM_PREDICT_CORRECTION_H_
