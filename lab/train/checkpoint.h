// The state of a run after an epoch: everything that the next step depends on.
#ifndef RESMEM_LAB_TRAIN_CHECKPOINT_H_
#define RESMEM_LAB_TRAIN_CHECKPOINT_H_

#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

#include "recipe/train_recipe.h"
#include "resmem/status.h"

namespace resmem::train {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

struct Progressed {
  int64_t epochs = 0;  // finished
  double best_accuracy = -1;
  int64_t best_epoch = 0;
  double seconds = 0;                      // of training so far
  Precision precision = Precision::kAuto;  // that it was trained in; kAuto: no epoch yet
};

Status SaveCheckpoint(const std::string& path, const Progressed& progressed,
                      const NamedTensors& state);
// Fills `state`, whose names and sizes must be the file's.
// Errors: kNotFound, kCorrupt, kMismatch, kIo.
Result<Progressed> LoadCheckpoint(const std::string& path, const NamedTensors& state);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_CHECKPOINT_H_
