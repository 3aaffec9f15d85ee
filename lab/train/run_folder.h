// The files of a run (trainer.h lists them).
#ifndef RESMEM_LAB_TRAIN_RUN_FOLDER_H_
#define RESMEM_LAB_TRAIN_RUN_FOLDER_H_

#include <string>

#include "recipe/train_recipe.h"
#include "resmem/status.h"
#include "train/checkpoint.h"
#include "train/trainer.h"

namespace resmem::train {

class RunFolder {
 public:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  // "epoch-0128"
  static std::string EpochName(const char* kind, int64_t epoch);

  // split.npy, for `--split` of the commands that read the same images.
  Status WriteSplit(const TrainSplit& split, int64_t rows) const;

  // Writes the state and removes all but the newest two checkpoints.
  Status Save(const Progressed& progressed, const NamedTensors& state) const;
  // From the newest checkpoint that is sound; one that is not is told to `note` and passed over.
  // No checkpoint: epoch 0, `state` untouched.
  Result<Progressed> Restore(const NamedTensors& state,
                             const std::function<void(const std::string&)>& note) const;

  // Keeps the lines of the first `epochs` epochs: what a killed run wrote beyond its checkpoint
  // will be written again.
  Status CutLog(int64_t epochs) const;
  Status Log(const EpochReport& report) const;

 private:
  // Epochs that have a checkpoint, rising.
  Result<std::vector<int64_t>> Checkpoints() const;

  std::string path_;
};

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_RUN_FOLDER_H_
