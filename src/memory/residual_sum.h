// The weighted sum of stored residuals: what a prediction spends its time on after the search.
//
// Sums run over the rows in their order, in float32, product and sum rounded one by one: the same
// bits as ResidualMemory::AddResidual() for one row after the other.  One object serves one thread;
// AddTo() allocates nothing.
#ifndef RESMEM_MEMORY_RESIDUAL_SUM_H_
#define RESMEM_MEMORY_RESIDUAL_SUM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "resmem/residual_memory.h"

namespace resmem {

class ResidualSum {
 public:
  // The memory must outlive it.
  explicit ResidualSum(const ResidualMemory& memory);

  // scores[c] += (sum_i weights[i] r_i[c]) * scale, r_i the residual of rows[i].  For frozen forms
  // `temperature` must be the frozen one.  Sparse: no score is a negative zero.
  void AddTo(std::span<const int64_t> rows, std::span<const float> weights, float temperature,
             float scale, std::span<float> scores);

 private:
  void AddDense(std::span<const int64_t> rows, const float* weights);
  void AddOneByOne(std::span<const int64_t> rows, const float* weights, float temperature);

  const ResidualMemory* memory_;
  std::vector<float> sum_;  // zeros between calls
  std::vector<float> scratch_;
};

}  // namespace resmem

#endif  // RESMEM_MEMORY_RESIDUAL_SUM_H_
