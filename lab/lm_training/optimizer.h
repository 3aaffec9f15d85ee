// How a gradient changes the parameters.
#ifndef RESMEM_LAB_LM_TRAINING_OPTIMIZER_H_
#define RESMEM_LAB_LM_TRAINING_OPTIMIZER_H_

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lm_training/lm_training.h"
#include "transformer/shape.h"

namespace resmem {

// Part of a run's state; what it is called, and its values.
using NamedValues = std::vector<std::pair<std::string, std::span<float>>>;

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // `gradient` times `factor` is the gradient; `step` counts from 1.
  virtual void Step(std::span<const float> gradient, double factor, double rate, int64_t step,
                    std::span<float> values) = 0;
  // Valid as long as the optimizer is.
  virtual NamedValues State() = 0;
};
// `layout` must outlive it.
std::unique_ptr<Optimizer> MakeOptimizer(const LmRecipe& recipe, const ParameterLayout& layout,
                                         int threads);

// The sum of squares, the same whatever the number of threads.
double SquaredLength(std::span<const float> values, int threads);

}  // namespace resmem

#endif  // RESMEM_LAB_LM_TRAINING_OPTIMIZER_H_
