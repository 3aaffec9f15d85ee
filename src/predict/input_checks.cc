#include "predict/input_checks.h"

#include <cmath>
#include <limits>

#include "kernels/long_row.h"
#include "support/text.h"

namespace resmem {

Status CheckLogits(std::span<const float> logits, int64_t row) {
  const auto columns = static_cast<int64_t>(logits.size());
  if (AllWithin(logits.data(), columns, std::numeric_limits<float>::max())) return {};
  size_t c = 0;
  while (std::isfinite(logits[c])) ++c;
  return {ErrorCode::kBadData, Text("the logits hold ", logits[c], " at row ", row, ", column ", c,
                                    "; only finite values are allowed: export them again")};
}

Status CheckFrozenTemperature(const MemoryDescription& description, float temperature) {
  if (description.task != Task::kClassification || description.form == ResidualForm::kLogits ||
      temperature == description.parameters.temperature) {
    return {};
  }
  return {
      ErrorCode::kInvalidArgument,
      Text("the temperature is ", temperature, ", but this memory is frozen at ",
           description.parameters.temperature, "; use that, or memorize again from the logits")};
}

}  // namespace resmem
