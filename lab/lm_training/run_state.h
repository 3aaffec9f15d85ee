// What a training run keeps of itself in its folder.
#ifndef RESMEM_LAB_LM_TRAINING_RUN_STATE_H_
#define RESMEM_LAB_LM_TRAINING_RUN_STATE_H_

#include <functional>
#include <string>

#include "lm_training/optimizer.h"
#include "recipe/run_folder.h"
#include "resmem/status.h"

namespace resmem {

inline constexpr RunKind kLmRun = {"step", 8, "arrays"};

struct RunProgress {
  int64_t step = 0;       // steps taken
  double best_loss = -1;  // the least validation loss, -1: none yet
  double seconds = 0;     // of training
  // Since the last report.
  double loss = 0;
  int64_t predicted = 0, right = 0;
  double report_seconds = 0;
};

Json ReportJson(const LmReport& report);  // a line of the log

// `data`: fingerprint of what the run learns from; a checkpoint of other data is refused.
Status SaveRun(const RunFolder& folder, const RunProgress& progress, const std::string& data,
               const NamedValues& state);
// As RunFolder::Restore(); no checkpoint: step 0.
Result<RunProgress> RestoreRun(const RunFolder& folder, const std::string& data,
                               const NamedValues& state,
                               const std::function<void(const std::string&)>& note);

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_RUN_STATE_H_
