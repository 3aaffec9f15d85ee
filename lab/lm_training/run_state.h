// The state of a training run on disk: checkpoints and the log.
#ifndef RESMEM_LAB_LM_TRAINING_RUN_STATE_H_
#define RESMEM_LAB_LM_TRAINING_RUN_STATE_H_

#include <functional>
#include <string>

#include "lm_training/optimizer.h"
#include "resmem/status.h"

namespace resmem {

struct RunProgress {
  int64_t step = 0;       // steps taken
  double best_loss = -1;  // the least validation loss, -1: none yet
  double seconds = 0;     // of training
  // Since the last report.
  double loss = 0;
  int64_t predicted = 0, right = 0;
  double report_seconds = 0;
};

class RunState {
 public:
  explicit RunState(std::string folder) : folder_(std::move(folder)) {}

  // What the run learns from; a checkpoint of other data is refused.
  void set_data(std::string fingerprint) { data_ = std::move(fingerprint); }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }

  // Writes the state and removes all but the newest two checkpoints.
  Status Save(const RunProgress& progress, const NamedValues& state) const;
  // From the newest checkpoint that is sound; one that is not is told to `note` and passed over.
  // No checkpoint: step 0, `state` untouched.  kMismatch: of another model or
  // of other data.
  Result<RunProgress> Restore(const NamedValues& state,
                              const std::function<void(const std::string&)>& note) const;

  // Keeps the lines up to `step`: what a killed run wrote beyond its checkpoint comes again.
  Status CutLog(int64_t step) const;
  Status Log(const LmReport& report) const;

 private:
  Result<std::vector<int64_t>> Checkpoints() const;  // their steps, rising
  Result<RunProgress> Load(const std::string& path, const NamedValues& state) const;

  std::string folder_, data_;
};

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_RUN_STATE_H_
