// The table of calibrators as the public face shows it.
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/long_row.h"
#include "memory/residuals/calibrators.h"
#include "resmem/predictor.h"
#include "support/text.h"

namespace resmem {

std::span<const std::string_view> CalibratorNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> list;
    for (const Calibrator& one : Calibrators()) list.push_back(one.name);
    return list;
  }();
  return names;
}

std::string_view CalibratorHelp(std::string_view calibrator) {
  const Calibrator* const found = FindCalibrator(calibrator);
  return found == nullptr ? std::string_view() : found->help;
}

Status ToProbabilities(std::string_view calibrator, float temperature, std::span<float> scores) {
  if (!AllWithin(scores.data(), std::ssize(scores), std::numeric_limits<float>::max())) {
    size_t c = 0;
    while (std::isfinite(scores[c])) ++c;
    return {ErrorCode::kBadData, Text("the score of class ", c, " is ", scores[c],
                                      "; only finite scores can become probabilities")};
  }
  const Calibrator* const found = FindCalibrator(calibrator);
  if (found == nullptr) {
    return {ErrorCode::kInvalidArgument, Text("no calibrator is called \"", calibrator,
                                              "\"; there are ", CalibratorNamesText())};
  }
  if (found->has_temperature() && (!(temperature > 0) || !std::isfinite(temperature))) {
    return {ErrorCode::kInvalidArgument, Text("the calibrator's temperature is ", temperature,
                                              "; it must be a finite number above 0")};
  }
  found->apply(temperature, scores);
  return {};
}

}  // namespace resmem
