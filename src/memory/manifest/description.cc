#include "memory/manifest/description.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "memory/manifest/answer.h"
#include "memory/residuals/calibrators.h"
#include "memory/residuals/packed_residuals.h"
#include "support/json_reader.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kMaxDenseOutputs = 1024;

Status Invalid(const std::string& message) {
  return {ErrorCode::kInvalidArgument, message};
}

Status CheckPositive(const char* name, float value) {
  if (std::isfinite(value) && value > 0) return {};
  return Invalid(Text(name, " is ", value, ", but must be a finite number above 0"));
}

Status CheckRange(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return {};
  return Invalid(Text(name, " is ", value, ", but must be ", low, " to ", high));
}

}  // namespace

const char* TaskName(Task task) {
  return task == Task::kClassification ? "classification" : "regression";
}

const char* ResidualFormName(ResidualForm form) {
  switch (form) {
    case ResidualForm::kLogits:
      return "logits";
    case ResidualForm::kDense:
      return "dense";
    case ResidualForm::kSparse:
      return "sparse";
    case ResidualForm::kPacked:
      return "packed";
  }
  return "unknown";
}

const char* KeyTransformName(KeyTransform transform) {
  switch (transform) {
    case KeyTransform::kNone:
      return "none";
    case KeyTransform::kUnit:
      return "unit";
    case KeyTransform::kWhiten:
      return "whiten";
  }
  return "unknown";
}

ResidualForm FrozenForm(int64_t outputs) {
  return outputs <= kMaxDenseOutputs ? ResidualForm::kDense : ResidualForm::kSparse;
}

Status CheckParameters(const Parameters& parameters) {
  RESMEM_RETURN_IF_ERROR(CheckRange("k", parameters.k, 0, std::numeric_limits<int64_t>::max()));
  RESMEM_RETURN_IF_ERROR(CheckPositive("sigma", parameters.sigma));
  return CheckPositive("temperature", parameters.temperature);
}

Status CheckDescription(const MemoryDescription& description) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  RESMEM_RETURN_IF_ERROR(CheckRange("dim", description.dim, 1, kLargest));
  RESMEM_RETURN_IF_ERROR(CheckRange("outputs", description.outputs, 1, kLargest));
  RESMEM_RETURN_IF_ERROR(CheckRange("the number of notes",
                                    static_cast<int64_t>(description.notes.size()), 0,
                                    JsonLimits().keys_in_object));
  RESMEM_RETURN_IF_ERROR(CheckParameters(description.parameters));
  RESMEM_RETURN_IF_ERROR(
      CheckPositive("calibrator_temperature", description.calibrator_temperature));
  if (FindCalibrator(description.calibrator) == nullptr) {
    return Invalid(Text("no calibrator is called \"", description.calibrator, "\"; there are ",
                        CalibratorNamesText()));
  }
  RESMEM_RETURN_IF_ERROR(CheckAnswer(description));
  if (description.form == ResidualForm::kSparse) {
    RESMEM_RETURN_IF_ERROR(CheckRange("top", description.top, 1, description.outputs));
  }
  if (description.form == ResidualForm::kPacked) {
    RESMEM_RETURN_IF_ERROR(
        CheckRange("top", description.top, 1, std::min(kMostPacked, description.outputs)));
    RESMEM_RETURN_IF_ERROR(CheckPositive("the packed share", description.packed_share));
    if (!(description.packed_share <= 1)) {
      return Invalid(
          Text("the packed share is ", description.packed_share, ", at most 1 is whole"));
    }
    if (!(description.packed_least >= 0 && description.packed_least <= 1)) {
      return Invalid(Text("the least mass of packed rows is ", description.packed_least,
                          ", but must be 0 to 1"));
    }
  }
  if (description.task == Task::kRegression && description.form != ResidualForm::kDense) {
    return Invalid(Text("residual form ", ResidualFormName(description.form),
                        " was asked of a regression, which knows only dense"));
  }
  const auto names = static_cast<int64_t>(description.class_names.size());
  if (names != 0 && names != description.outputs) {
    return Invalid(Text(names, " class names were given for ", description.outputs,
                        " outputs; give one each, or none"));
  }
  return {};
}

Result<MemoryDescription> NormalizeDescription(MemoryDescription description) {
  if (description.task == Task::kRegression && description.form == ResidualForm::kLogits) {
    description.form = ResidualForm::kDense;
  }
  if (description.form == ResidualForm::kSparse) {
    description.top = std::min(description.top, description.outputs);
  }
  if (description.form == ResidualForm::kPacked) {
    description.top = std::min({description.top, description.outputs, kMostPacked});
  }
  RESMEM_RETURN_IF_ERROR(CheckDescription(description));
  return description;
}

}  // namespace resmem
