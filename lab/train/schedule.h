// The learning rate of each step.
#ifndef RESMEM_LAB_TRAIN_SCHEDULE_H_
#define RESMEM_LAB_TRAIN_SCHEDULE_H_

#include <cstdint>

#include "recipe/train_recipe.h"

namespace resmem::train {

// `step` counts from 0 over the whole run; an epoch has `steps_per_epoch`.
double RateAt(const TrainRecipe& recipe, int64_t step, int64_t steps_per_epoch);

}  // namespace resmem::train

#endif  // RESMEM_LAB_TRAIN_SCHEDULE_H_
