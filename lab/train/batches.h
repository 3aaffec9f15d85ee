// Batches of rows as tensors: shuffled, cropped and flipped by the seed, the epoch and the row
// alone, so that a resumed run sees what an unbroken one would have seen.
#ifndef RESMEM_LAB_TRAIN_BATCHES_H_
#define RESMEM_LAB_TRAIN_BATCHES_H_

#include <torch/torch.h>

#include <span>
#include <vector>

#include "train/training_data.h"

namespace resmem::train {

// The rows of an epoch in their order.
std::vector<int64_t> ShuffledRows(std::vector<int64_t> rows, uint64_t seed, int64_t epoch);

class BatchMaker {
 public:
  BatchMaker(const TrainingData& data, const Normalization& normalization, int threads = 1);

  struct Augmentation {
    int64_t padding = 0;
    bool flip = false;
    uint64_t seed = 0;
    int64_t epoch = 0;
  };
  // Images in channels-last order.
  Result<torch::Tensor> Inputs(std::span<const int64_t> rows,
                               const Augmentation& augmentation) const;
  torch::Tensor Labels(std::span<const int64_t> rows) const;

 private:
  torch::Tensor TableRows(std::span<const int64_t> rows) const;
  void Image(const uint8_t* pixels, int64_t row, const Augmentation& augmentation,
             float* out) const;

  const TrainingData& data_;
  Normalization normalization_;
  int threads_;
  std::vector<float> table_;  // channels x 256: each byte's normalized value
};

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_BATCHES_H_
