// Stochastic gradient descent on the softmax cross-entropy.
#ifndef RESMEM_LAB_BASE_MODEL_TRAINER_H_
#define RESMEM_LAB_BASE_MODEL_TRAINER_H_

#include <cstdint>
#include <span>

#include "base_model/base_model.h"
#include "base_model/network.h"

namespace resmem {

// The peak rate's share at step `step` of `steps`: up in a line over the first twentieth, then
// down half a cosine to nearly 0.
double RateShare(int64_t step, int64_t steps);

// Shapes, labels and options; inputs that are not finite.
Status CheckTraining(MatrixView inputs, std::span<const int32_t> labels, int64_t classes,
                     const BaseModelOptions& options);

// Learns from the rows named, and from no other.  Requires CheckTraining() and a row.
// `stage`: what progress is called.
Result<Network> TrainNetwork(MatrixView inputs, std::span<const int32_t> labels, int64_t classes,
                             std::span<const int64_t> rows, const BaseModelOptions& options,
                             std::string_view stage);

}  // namespace resmem

#endif  // RESMEM_LAB_BASE_MODEL_TRAINER_H_
