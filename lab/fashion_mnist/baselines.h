// k-NN and kNN-LM mixing with parameters of their own, chosen on validation rows over the same
// k and sigma as ResMem: a fair opponent.
#ifndef RESMEM_LAB_FASHION_MNIST_BASELINES_H_
#define RESMEM_LAB_FASHION_MNIST_BASELINES_H_

#include <cstdint>
#include <span>

#include "resmem/knn_index.h"
#include "resmem/matrix_view.h"
#include "resmem/tuner.h"

namespace resmem::examples {

struct Queries {
  MatrixView logits;
  std::span<const int32_t> labels;
  const Neighbors& neighbors;
};

struct MixingChoice {
  int64_t k = 0;
  float sigma = 0;
  float lambda = 0;     // 1: k-NN alone
  int64_t correct = 0;  // of the rows it was chosen on
};

// The point of grid.k x grid.sigma x lambdas with most correct answers; k ascending.
MixingChoice ChooseMixing(const Queries& queries, std::span<const int32_t> memory_labels,
                          const Grid& grid, std::span<const float> lambdas);

}  // namespace resmem::examples

#endif  // RESMEM_LAB_FASHION_MNIST_BASELINES_H_
