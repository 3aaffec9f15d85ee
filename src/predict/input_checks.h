// What a prediction needs to be true of its input.
#ifndef RESMEM_PREDICT_INPUT_CHECKS_H_
#define RESMEM_PREDICT_INPUT_CHECKS_H_

#include <cstdint>
#include <span>

#include "resmem/residual_memory.h"

namespace resmem {

// Finite; `row` is for the message.
Status CheckLogits(std::span<const float> logits, int64_t row);

// A memory that has no logits has residuals of one temperature only.
Status CheckFrozenTemperature(const MemoryDescription& description, float temperature);

}  // namespace resmem

#endif  // RESMEM_PREDICT_INPUT_CHECKS_H_
