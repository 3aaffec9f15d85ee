#include "outputs/key_tuning_text.h"

namespace resmem::cli {

void AddKeys(const Tuning& tuning, Table* table) {
  const KeyTuning& keys = tuning.keys;
  if (keys.trials.empty() && keys.former == keys.chosen && keys.reason.empty()) return;
  const bool changed = keys.former != keys.chosen;
  table->AddRow(
      {"keys", KeyTransformName(keys.chosen) +
                   (changed ? std::string(", formerly ") + KeyTransformName(keys.former)
                            : ", as before" + (keys.reason.empty() ? "" : ": " + keys.reason))});
  if (keys.trials.empty()) return;
  std::string tried;
  for (const KeyTuning::Trial& trial : keys.trials) {
    tried += (tried.empty() ? "" : ", ") + std::string(KeyTransformName(trial.transform)) + " " +
             (trial.reason.empty() ? Fixed(trial.nll, 4) : "not possible: " + trial.reason);
  }
  const bool regression = tuning.task == Task::kRegression;
  table->AddRow({"", (regression ? "squared error: " : "NLL: ") + tried + ", cross-validated"});
  if (!changed) return;
  table->AddRow({"", "the choice within each fold is better by " + Fixed(keys.gain, 4) +
                         " (95 % interval " + Fixed(keys.interval.low, 4) + " .. " +
                         Fixed(keys.interval.high, 4) + ")"});
}

}  // namespace resmem::cli
