#include "memory/residuals/calibrators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/long_row.h"

namespace resmem {
namespace {

// A class that the memory argues below zero keeps this much before renormalizing, so that its
// logarithm exists.
constexpr double kFloor = 1e-6;

// Divides by the sum of scores, none of which is negative; the uniform distribution where there is
// nothing to divide.
void Normalize(std::span<float> scores) {
  const auto count = static_cast<int64_t>(scores.size());
  const double total = SumMagnitudes(scores.data(), count, std::numeric_limits<float>::infinity());
  if (!(total > 0)) {
    std::ranges::fill(scores, static_cast<float>(1.0 / static_cast<double>(count)));
    return;
  }
  const double factor = 1 / total;
  for (float& score : scores) score = static_cast<float>(score * factor);
}

void Clip(float, std::span<float> scores) {
  for (float& score : scores) score = std::max(score, 0.0f);
  Normalize(scores);
}

// The nearest probability vector: max(score - threshold, 0), the threshold found from the sorted
// scores (Held, Wolfe and Crowder 1974).
void ProjectOnSimplex(float, std::span<float> scores) {
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
  Normalize(scores);
}

void LogTemperature(float temperature, std::span<float> scores) {
  double largest = kFloor;
  for (float score : scores) largest = std::max(largest, static_cast<double>(score));
  const auto power = [&](double value) {
    return static_cast<float>(
        std::pow(value / largest, 1 / static_cast<double>(temperature)));  // 1 for the best
  };
  const float of_floor = power(kFloor);  // of most words of a vocabulary
  for (float& score : scores) {
    score = static_cast<double>(score) > kFloor ? power(static_cast<double>(score)) : of_floor;
  }
  Normalize(scores);
}

// From 1/4 to 4.
const std::array<float, 21> kTemperatures = [] {
  std::array<float, 21> temperatures{};
  for (int step = -10; step <= 10; ++step) {
    temperatures[static_cast<size_t>(step + 10)] = std::exp2(static_cast<float>(step) / 5);
  }
  return temperatures;
}();

const std::array<Calibrator, 3> kCalibrators = {{
    {"clip", "negative scores to 0, divided by the sum", Clip},
    {"simplex", "the nearest probability vector", ProjectOnSimplex},
    {"log-temperature", "proportional to max(score, 1e-6)^(1 / temperature)", LogTemperature,
     kTemperatures},
}};

}  // namespace

std::span<const Calibrator> Calibrators() {
  return kCalibrators;
}

const Calibrator* FindCalibrator(std::string_view name) {
  const auto found = std::find_if(kCalibrators.begin(), kCalibrators.end(),
                                  [&](const Calibrator& one) { return one.name == name; });
  return found == kCalibrators.end() ? nullptr : &*found;
}

std::string CalibratorNamesText() {
  std::string text;
  for (const Calibrator& one : kCalibrators) {
    if (!text.empty()) text += &one == &kCalibrators.back() ? " and " : ", ";
    text += one.name;
  }
  return text;
}

}  // namespace resmem
