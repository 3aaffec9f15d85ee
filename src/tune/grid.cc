#include "tune/grid.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "support/text.h"

namespace resmem {
namespace {

// The paper's sweep is k 27 .. 500 and T 0.1 .. 5, with best values from 10 to 53 and 0.4 to 1.4.
constexpr int64_t kAxisK[] = {1,  2,  3,   5,   7,   10,  14,  20,  27,  38,
                              53, 75, 105, 147, 200, 260, 320, 380, 440, 500};
constexpr float kAxisTemperature[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 1.0f,
                                      1.2f, 1.4f, 1.6f, 1.8f, 2.0f, 2.5f, 3.0f, 3.5f, 4.0f, 5.0f};
// Sigma runs geometrically between these shares of the typical distance.
constexpr double kLeastSigma = 0.02, kLargestSigma = 2;
constexpr int kSigmaSteps = 20;

template <typename T>
void Sort(std::vector<T>* axis) {
  std::sort(axis->begin(), axis->end());
  axis->erase(std::unique(axis->begin(), axis->end()), axis->end());
}

// Three digits are enough for a sigma that people will read and type.  The ends are the outermost
// such numbers among the normal floats: beyond them a sigma or its inverse is not finite.
float RoundToThreeDigits(double value) {
  value = std::clamp(value, 1.18e-38, 3.4e38);
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return std::strtof(text, nullptr);
}

bool TemperatureIsFixed(const MemoryDescription& description) {
  return description.task == Task::kRegression || description.form != ResidualForm::kLogits;
}

}  // namespace

const char* ObjectiveName(Objective objective) {
  switch (objective) {
    case Objective::kNll:
      return "nll";
    case Objective::kGain:
      return "accuracy";
    case Objective::kTprUnderFpr:
      return "tpr-at-fpr";
  }
  return "unknown";
}

Grid DefaultGrid(double typical_distance, int64_t rows) {
  Grid grid;
  for (const int64_t k : kAxisK) {
    grid.k.push_back(std::min(k, std::max<int64_t>(rows, 1)));
  }
  Sort(&grid.k);
  const bool usable = std::isfinite(typical_distance) && typical_distance > 0;
  const double unit = usable ? typical_distance : 1;
  for (int i = 0; i < kSigmaSteps; ++i) {
    const double share =
        kLeastSigma * std::pow(kLargestSigma / kLeastSigma, i / (kSigmaSteps - 1.0));
    grid.sigma.push_back(RoundToThreeDigits(unit * share));
  }
  Sort(&grid.sigma);
  grid.temperature.assign(std::begin(kAxisTemperature), std::end(kAxisTemperature));
  return grid;
}

Status CheckGrid(const MemoryDescription& description, const Grid& grid) {
  for (const int64_t k : grid.k) {
    if (k < 1) {
      return {ErrorCode::kInvalidArgument,
              Text("the grid's k axis holds ", k, "; every k must be at least 1")};
    }
  }
  for (const auto& [name, axis] :
       {std::pair{"sigma", &grid.sigma}, std::pair{"temperature", &grid.temperature}}) {
    for (const float value : *axis) {
      if (!(value > 0) || !std::isfinite(value)) {
        return {ErrorCode::kInvalidArgument, Text("the grid's ", name, " axis holds ", value,
                                                  "; every value must be finite and above 0")};
      }
    }
  }
  const float own = description.parameters.temperature;
  for (const float temperature : grid.temperature) {
    if (TemperatureIsFixed(description) && temperature != own) {
      return {ErrorCode::kInvalidArgument,
              Text("the grid's temperature axis holds ", temperature,
                   ", but this memory's residuals are fixed at ", own,
                   "; leave the axis empty, or memorize again with logits")};
    }
  }
  return {};
}

int64_t LargestK(const Grid& grid, int64_t memory_rows) {
  if (!grid.k.empty()) return *std::max_element(grid.k.begin(), grid.k.end());
  return DefaultGrid(1, memory_rows).k.back();
}

Grid FillGrid(const MemoryDescription& description, const Grid& grid, double typical_distance,
              int64_t memory_rows, int64_t searched_k) {
  const Grid defaults = DefaultGrid(typical_distance, memory_rows);
  Grid filled = grid;
  if (filled.k.empty()) {
    filled.k = defaults.k;
    for (const int64_t k : kMoreK) {
      if (filled.k.back() < searched_k) filled.k.push_back(std::min(k, searched_k));
    }
  }
  if (filled.sigma.empty()) filled.sigma = defaults.sigma;
  if (TemperatureIsFixed(description)) {
    filled.temperature = {description.parameters.temperature};
  } else if (filled.temperature.empty()) {
    filled.temperature = defaults.temperature;
  }
  Sort(&filled.k);
  Sort(&filled.sigma);
  Sort(&filled.temperature);
  return filled;
}

bool ExtendGrid(const Grid& given, const Parameters& chosen, Grid* grid) {
  constexpr int kMore = 5;
  bool extended = false;
  const auto extend = [&](bool own, float value, double ratio, std::vector<float>* axis) {
    if (!own || axis->size() < 2) return;
    const bool larger = value == axis->back();
    if (!larger && value != axis->front()) return;
    const double edge = value;
    for (int i = 1; i <= kMore; ++i) {
      const double more = larger ? edge * std::pow(ratio, i) : edge / std::pow(ratio, i);
      if (!(more > 1e-30 && more < 1e30)) break;
      axis->push_back(RoundToThreeDigits(more));
      extended = true;
    }
    Sort(axis);
  };
  const double sigma_ratio = std::pow(kLargestSigma / kLeastSigma, 1 / (kSigmaSteps - 1.0));
  extend(given.sigma.empty(), chosen.sigma, sigma_ratio, &grid->sigma);
  extend(given.temperature.empty(), chosen.temperature, 1.25, &grid->temperature);
  return extended;
}

std::string EdgeWarning(const Grid& grid, const Parameters& chosen, int64_t memory_rows) {
  std::string axes;
  const auto add = [&axes](const std::string& text) { axes += (axes.empty() ? "" : ", ") + text; };
  if (grid.k.size() > 1) {
    if (chosen.k == grid.k.back() && chosen.k < memory_rows) add(Text("largest k ", chosen.k));
    if (chosen.k == grid.k.front() && chosen.k > 1) add(Text("smallest k ", chosen.k));
  }
  const auto add_float = [&add](const char* name, const std::vector<float>& axis, float value) {
    if (axis.size() < 2) return;
    if (value == axis.back()) add(Text("largest ", name, " ", value));
    if (value == axis.front()) add(Text("smallest ", name, " ", value));
  };
  add_float("sigma", grid.sigma, chosen.sigma);
  add_float("T", grid.temperature, chosen.temperature);
  if (axes.empty()) return "";
  return Text(
      "The chosen point lies on the edge of the grid (", axes,
      "); a wider grid may hold a better one (--grid-k, --grid-sigma, --grid-temperature).");
}

}  // namespace resmem
