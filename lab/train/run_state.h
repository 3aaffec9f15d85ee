// What a run keeps of itself in its folder: everything that the next epoch depends on.
#ifndef RESMEM_LAB_TRAIN_RUN_STATE_H_
#define RESMEM_LAB_TRAIN_RUN_STATE_H_

#include <torch/torch.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "recipe/run_folder.h"
#include "recipe/train_recipe.h"
#include "resmem/status.h"
#include "train/trainer.h"

namespace resmem::train {

inline constexpr RunKind kTrainRun = {"epoch", 4, "tensors"};

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

struct RunProgress {
  int64_t epochs = 0;  // finished
  double best_accuracy = -1;
  int64_t best_epoch = 0;
  double seconds = 0;                      // of training so far
  Precision precision = Precision::kAuto;  // that it was trained in; kAuto: no epoch yet
};

Status SaveRun(const RunFolder& folder, const RunProgress& progress, const NamedTensors& state);
// As RunFolder::Restore(); no checkpoint: epoch 0.
Result<RunProgress> RestoreRun(const RunFolder& folder, const NamedTensors& state,
                               const std::function<void(const std::string&)>& note);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_RUN_STATE_H_
