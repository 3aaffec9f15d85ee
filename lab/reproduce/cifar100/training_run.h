// The networks that the experiments are about, each trained in runs/NAME.
#ifndef RESMEM_LAB_REPRODUCE_CIFAR100_TRAINING_RUN_H_
#define RESMEM_LAB_REPRODUCE_CIFAR100_TRAINING_RUN_H_

#include <span>
#include <string>
#include <vector>

#include "recipe/train_recipe.h"
#include "reproduce/cifar100/workspace.h"
#include "reproduce/json.h"

namespace resmem::cli::reproduce::cifar100 {

struct TrainingRun {
  std::string name;  // "short-resnet8-seed1"
  std::string network;
  std::string preset;
  uint64_t seed = 1;
  int64_t share = 100;  // per cent of the rows that are not held out
  bool holds_out = true;
  std::vector<int64_t> keep_epochs = {};
  bool by_default = true;
  bool balanced = false;  // the share is drawn class by class
};
std::span<const TrainingRun> TrainingRuns();
const TrainingRun* FindTrainingRun(const std::string& name);  // null: no such run
// Of TrainingRuns(), by their names' beginning.
std::vector<std::string> RunsNamed(const std::string& beginning);

// With --quick: two epochs.
TrainRecipe RecipeOf(const TrainingRun& run, const Workspace& workspace);
// What the trained network depends on, without places and threads.
Json RecipeSettings(const TrainRecipe& recipe);
// About, on one thread of the machine of docs/reproduce.md.
double TrainingSeconds(const TrainRecipe& recipe, int64_t rows);

// Where a former run stands: its last line in log.jsonl; null: nowhere.
Json LastEpoch(const Workspace& workspace, const std::string& run);

// Trains to the end, or goes on where it was stopped; a finished run is taken as it is.
// kMismatch where runs/NAME has another recipe.
Status Train(const TrainingRun& run, Workspace& workspace);

}  // namespace resmem::cli::reproduce::cifar100

#endif  // RESMEM_LAB_REPRODUCE_CIFAR100_TRAINING_RUN_H_
