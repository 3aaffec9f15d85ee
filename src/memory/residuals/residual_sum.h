// The weighted sum of stored residuals: what a prediction spends its time on after the search.
//
// Sums run over the rows in their order, in float32, product and sum rounded one by one: the same
// bits as ResidualMemory::AddResidual() for one row after the other.  One object serves one thread;
// AddTo() allocates nothing, but for the first rows or more of them than ever before.
#ifndef RESMEM_MEMORY_RESIDUALS_RESIDUAL_SUM_H_
#define RESMEM_MEMORY_RESIDUALS_RESIDUAL_SUM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

class ResidualCache;

class ResidualSum {
 public:
  // The memory must outlive it, and the cache, which may be another than the memory's own.
  explicit ResidualSum(const ResidualMemory& memory);
  ResidualSum(const ResidualMemory& memory, ResidualCache* cache);

  // scores[c] += (sum_i weights[i] r_i[c]) * scale, r_i the residual of rows[i].  For frozen forms
  // `temperature` must be the frozen one.  Sparse: no score is a negative zero.
  void AddTo(std::span<const int64_t> rows, std::span<const float> weights, float temperature,
             float scale, std::span<float> scores);
  // The same sum without the scale, for one who passes over all of it anyway and leaves it all 0.
  // It lies as far from a line's start as `beside`, which it will be read with.
  std::span<float> Sum(std::span<const int64_t> rows, std::span<const float> weights,
                       float temperature, const float* beside);

 private:
  // Into sum_; returns how many places of touched_ are used, sparse forms only.
  int64_t Add(std::span<const int64_t> rows, std::span<const float> weights, float temperature,
              const float* beside);
  // Their blocks are checked.  Once for all rows where it can be: a check a row costs a tenth of
  // the sum.
  void Require(std::span<const int64_t> rows);
  void AddDense(std::span<const int64_t> rows, const float* weights);
  void AddLogits(std::span<const int64_t> rows, const float* weights, float temperature);
  void AddKept(std::span<const int64_t> rows, const float* weights);
  // With so many in touched_ already; returns how many more.
  int64_t AddSparse(std::span<const int64_t> rows, const float* weights, int64_t touched);

  const ResidualMemory* memory_;
  ResidualCache* cache_;     // null: none
  bool checked_ = false;     // the whole memory
  std::vector<float> room_;  // zeros between calls
  std::span<float> sum_;     // in it, one for each output; as far from a line's start as the scores
  std::vector<float> scratch_;
  std::vector<uint32_t> touched_;  // sparse: classes whose sum is not 0, and maybe some twice
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUALS_RESIDUAL_SUM_H_
