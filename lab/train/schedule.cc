#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace resmem::train {

double RateAt(const TrainRecipe& recipe, int64_t step, int64_t steps_per_epoch) {
  const double warmup = recipe.warmup_epochs * static_cast<double>(steps_per_epoch);
  if (static_cast<double>(step) < warmup) {
    // A warm-up may end in the middle of a step.
    return recipe.peak_rate * std::min(1.0, static_cast<double>(step + 1) / warmup);
  }
  if (recipe.schedule == RateSchedule::kOneCycle) {
    const double rest = static_cast<double>(recipe.epochs * steps_per_epoch) - warmup;
    const double share = (static_cast<double>(step) - warmup) / rest;
    return recipe.peak_rate * 0.5 * (1 + std::cos(std::numbers::pi * share));
  }
  double rate = recipe.peak_rate;
  for (const int64_t epoch : recipe.drop_epochs) {
    if (step >= epoch * steps_per_epoch) rate *= recipe.drop_factor;
  }
  return rate;
}

}  // namespace resmem::train
