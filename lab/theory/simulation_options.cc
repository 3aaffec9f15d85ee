#include "theory/simulation_options.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "support/check.h"
#include "support/text.h"

namespace resmem {
namespace {

constexpr int64_t kMaxDimension = 100;
constexpr int64_t kMaxValues = 100'000'000;  // n * d: 400 MB a thread
constexpr int64_t kMaxDraws = 1'000'000;
constexpr int64_t kMaxTests = 1'000'000;
constexpr int64_t kMaxNeighbors = 10'000;

template <typename... Parts>
Status Refuse(const Parts&... parts) {
  return {ErrorCode::kInvalidArgument, Text("simulation: ", parts...)};
}

template <typename T>
Status CheckDistinct(const char* name, const std::vector<T>& values) {
  if (values.empty()) return Refuse("no ", name, " given; give at least one");
  std::set<T> seen;
  for (const T& value : values) {
    if (!seen.insert(value).second) return Refuse(name, " has ", value, " twice; give it once");
  }
  return {};
}

Status CheckRange(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return {};
  return Refuse(name, " is ", value, "; it must be from ", low, " to ", high);
}

Status CheckSetting(const SimulationSetting& setting, int64_t tests) {
  RESMEM_RETURN_IF_ERROR(CheckRange("k", setting.k, 1, kMaxNeighbors));
  if (setting.k * tests > kMaxValues) {
    return Refuse("k = ", setting.k, " neighbors of ", tests, " test points are more than ",
                  kMaxValues, " in all; give fewer test points");
  }
  if (!(setting.sigma > 0)) {
    return Refuse("sigma is ", setting.sigma, "; it must be above 0 (inf: equal weights)");
  }
  if (!(setting.noise >= 0 && setting.noise <= 1000)) {
    return Refuse("noise is ", setting.noise, "; it must be from 0 to 1000");
  }
  return {};
}

}  // namespace

Status CheckSimulationOptions(const SimulationOptions& options) {
  RESMEM_RETURN_IF_ERROR(CheckDistinct("dimension", options.dimensions));
  RESMEM_RETURN_IF_ERROR(CheckDistinct("bound L", options.bounds));
  RESMEM_RETURN_IF_ERROR(CheckDistinct("sample size n", options.samples));
  for (int64_t d : options.dimensions) {
    RESMEM_RETURN_IF_ERROR(CheckRange("dimension d", d, 1, kMaxDimension));
  }
  for (double bound : options.bounds) {
    if (!(bound >= 0 && bound < 1)) {
      return Refuse("bound L is ", bound,
                    "; it must be at least 0 and below 1, the norm of the true theta");
    }
  }
  const int64_t widest = *std::max_element(options.dimensions.begin(), options.dimensions.end());
  for (int64_t n : options.samples) {
    RESMEM_RETURN_IF_ERROR(CheckRange("sample size n", n, 1, kMaxValues));
    if (n > kMaxValues / widest) {
      return Refuse("n = ", n, " points of d = ", widest, " values are more than ", kMaxValues,
                    " values in all; give a smaller n or d");
    }
  }
  if (!std::is_sorted(options.samples.begin(), options.samples.end())) {
    return Refuse("sample sizes n do not increase; give them in order");
  }
  RESMEM_RETURN_IF_ERROR(CheckRange("the number of draws", options.draws, 2, kMaxDraws));
  RESMEM_RETURN_IF_ERROR(CheckRange("the number of tests", options.tests, 1, kMaxTests));
  if (options.tests > kMaxValues / widest) {
    return Refuse(options.tests, " test points of d = ", widest, " values are more than ",
                  kMaxValues, " values in all; give fewer");
  }
  if (options.fit_from < 0) {
    return Refuse("fit_from is ", options.fit_from, "; it must be a sample size, or 0");
  }
  if (options.settings.empty()) return Refuse("no setting given; give at least one");
  for (size_t i = 0; i < options.settings.size(); ++i) {
    const SimulationSetting& setting = options.settings[i];
    RESMEM_RETURN_IF_ERROR(CheckSetting(setting, options.tests));
    const auto end = options.settings.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(options.settings.begin(), end, setting) != end) {
      return Refuse("the setting ", SimulationSettingName(setting),
                    " is there twice; give it once");
    }
  }
  return {};
}

int64_t ResolveFitFrom(const SimulationOptions& options) {
  if (options.fit_from > 0) return options.fit_from;
  const double middle = std::sqrt(static_cast<double>(options.samples.front()) *
                                  static_cast<double>(options.samples.back()));
  // A sample size that was rounded to the middle counts as above it.
  return std::max<int64_t>(1, static_cast<int64_t>(middle));
}

std::string SimulationSettingName(const SimulationSetting& setting) {
  const SimulationSetting paper;
  std::string name;
  const auto add = [&](const std::string& part) { name += name.empty() ? part : " " + part; };
  if (setting.k != paper.k) add(Text("k=", setting.k));
  if (setting.sigma != paper.sigma) add(Text("sigma=", setting.sigma));
  if (setting.noise != paper.noise) add(Text("noise=", setting.noise));
  if (setting.target != paper.target) add(SimulationTargetName(setting.target));
  return name.empty() ? "paper" : name;
}

std::vector<SimulationSetting> DefaultSimulationSettings() {
  const SimulationSetting paper;
  std::vector<SimulationSetting> settings(7, paper);
  settings[1].k = 10;
  settings[2].k = 10;
  settings[2].sigma = 0.1;
  settings[3].noise = 0.5;
  settings[4].noise = 0.5;
  settings[4].k = 10;
  settings[5].target = SimulationTarget::kSine;
  settings[6].target = SimulationTarget::kQuadratic;
  return settings;
}

std::vector<int64_t> LogarithmicSteps(int64_t from, int64_t to, int64_t per_decade) {
  RESMEM_DCHECK(from >= 1 && from <= to && per_decade >= 1);
  std::vector<int64_t> steps;
  for (int64_t i = 0;; ++i) {
    const double step = static_cast<double>(i) / static_cast<double>(per_decade);
    const double value = static_cast<double>(from) * std::pow(10.0, step);
    if (value >= static_cast<double>(to) * (1 - 1e-9)) break;
    const int64_t rounded = std::llround(value);
    if (steps.empty() || rounded > steps.back()) steps.push_back(rounded);
  }
  if (steps.empty() || steps.back() < to) steps.push_back(to);
  return steps;
}

}  // namespace resmem
