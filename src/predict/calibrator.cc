// From raw scores, which sum to 1 but may leave [0, 1], to probabilities.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/long_row.h"
#include "resmem/predictor.h"
#include "support/calibrator_names.h"
#include "support/text.h"

namespace resmem {
namespace {

// A class that the memory argues below zero keeps this much before renormalizing, so that its
// logarithm exists.
constexpr double kFloor = 1e-6;

// Divides by the sum of scores, none of which is negative; the uniform distribution where there is
// nothing to divide.
void Normalise(std::span<float> scores) {
  const auto count = static_cast<int64_t>(scores.size());
  const double total = SumMagnitudes(scores.data(), count, std::numeric_limits<float>::infinity());
  if (!(total > 0)) {
    std::ranges::fill(scores, static_cast<float>(1.0 / static_cast<double>(count)));
    return;
  }
  const double factor = 1 / total;
  for (float& score : scores) score = static_cast<float>(score * factor);
}

void Clip(std::span<float> scores) {
  for (float& score : scores) score = std::max(score, 0.0f);
  Normalise(scores);
}

// The nearest probability vector: max(score - threshold, 0), the threshold found from the sorted
// scores (Held, Wolfe and Crowder 1974).
void ProjectOnSimplex(std::span<float> scores) {
  std::vector<float> sorted(scores.begin(), scores.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, threshold = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1) / static_cast<double>(i + 1);
    if (sorted[i] <= candidate) break;
    threshold = candidate;
  }
  for (float& score : scores) score = static_cast<float>(std::max(score - threshold, 0.0));
  Normalise(scores);
}

void LogTemperature(double temperature, std::span<float> scores) {
  double largest = kFloor;
  for (float score : scores) largest = std::max(largest, static_cast<double>(score));
  const auto power = [&](double value) {
    return static_cast<float>(std::pow(value / largest, 1 / temperature));  // 1 for the best
  };
  const float of_floor = power(kFloor);  // of most words of a vocabulary
  for (float& score : scores) {
    score = static_cast<double>(score) > kFloor ? power(static_cast<double>(score)) : of_floor;
  }
  Normalise(scores);
}

}  // namespace

std::span<const std::string_view> CalibratorNames() {
  return kCalibratorNames;
}

Status ToProbabilities(std::string_view calibrator, float temperature, std::span<float> scores) {
  if (!AllWithin(scores.data(), std::ssize(scores), std::numeric_limits<float>::max())) {
    size_t c = 0;
    while (std::isfinite(scores[c])) ++c;
    return {ErrorCode::kBadData, Text("the score of class ", c, " is ", scores[c],
                                      "; only finite scores can become probabilities")};
  }
  if (calibrator == "clip") {
    Clip(scores);
  } else if (calibrator == "simplex") {
    ProjectOnSimplex(scores);
  } else if (calibrator == "log-temperature") {
    if (!(temperature > 0) || !std::isfinite(temperature)) {
      return {ErrorCode::kInvalidArgument, Text("the calibrator's temperature is ", temperature,
                                                "; it must be a finite number above 0")};
    }
    LogTemperature(temperature, scores);
  } else {
    return {ErrorCode::kInvalidArgument,
            Text("no calibrator is called \"", calibrator, "\"; there are ", kCalibratorNamesText)};
  }
  return {};
}

}  // namespace resmem
