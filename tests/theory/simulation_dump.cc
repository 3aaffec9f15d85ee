// Prints draws of the simulation, data and risks, and one averaged run as JSON for numpy_test.py.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "theory/draw.h"
#include "theory/simulation.h"

namespace resmem {
namespace {

using Json = nlohmann::json;

const std::vector<double> kBounds = {0, 0.3, 0.9};

// A sigma that is not finite has no JSON: 0 stands for equal weights.
Json SettingJson(const SimulationSetting& setting) {
  return {{"k", setting.k},
          {"sigma", std::isinf(setting.sigma) ? 0 : setting.sigma},
          {"noise", setting.noise},
          {"target", SimulationTargetName(setting.target)}};
}

std::vector<SimulationSetting> Settings() {
  std::vector<SimulationSetting> settings = DefaultSimulationSettings();
  settings.emplace_back().target = SimulationTarget::kStep;
  SimulationSetting& all_at_once = settings.emplace_back();
  all_at_once = {7, 0.4, 0.8, SimulationTarget::kSine};
  return settings;
}

Json DrawJson(int64_t dimension, int64_t n) {
  const std::vector<SimulationSetting> settings = Settings();
  const Sample sample = DrawSample(dimension, n, 40, true, 17, 3);
  const Result<Neighbors> neighbors = FindNeighbors(sample, std::min<int64_t>(10, n));
  if (!neighbors.ok()) return {};
  std::vector<TargetMoments> moments;
  for (const SimulationSetting& setting : settings) {
    moments.push_back(ComputeTargetMoments(setting.target, dimension));
  }
  const std::vector<DrawRisks> risks = EvaluateDraw(sample, *neighbors, settings, moments, kBounds);
  Json cases = Json::array();
  for (size_t i = 0; i < risks.size(); ++i) {
    const DrawRisks& r = risks[i];
    cases.push_back({{"setting", SettingJson(settings[i / kBounds.size()])},
                     {"bound", kBounds[i % kBounds.size()]},
                     {"base", r.base},
                     {"knn", r.knn},
                     {"resmem", r.resmem},
                     {"t1", r.t1},
                     {"t2", r.t2},
                     {"noise_part", r.noise_part},
                     {"z", r.z}});
  }
  return {{"d", dimension},
          {"n", n},
          {"direction", sample.direction},
          {"covariates", sample.covariates},
          {"tests", sample.test_points},
          {"noise", sample.noise},
          {"cases", cases}};
}

Json EstimateJson(const Estimate& value) {
  return {value.mean, value.error};
}

Json RunJson() {
  SimulationOptions options;
  options.dimensions = {2};
  options.bounds = {0.5};
  options.samples = {30};
  options.settings = {SimulationSetting()};
  options.draws = 400;
  options.tests = 200;
  const Result<SimulationResult> result = RunSimulation(options);
  if (!result.ok()) return {};
  const SimulationPoint& point = result->curves[0].points[0];
  return {{"base", EstimateJson(point.base)},     {"knn", EstimateJson(point.knn)},
          {"resmem", EstimateJson(point.resmem)}, {"t1", EstimateJson(point.t1)},
          {"t2", EstimateJson(point.t2)},         {"z", EstimateJson(point.z)}};
}

}  // namespace
}  // namespace resmem

int main() {
  nlohmann::json draws = nlohmann::json::array();
  for (int64_t d : {1, 2, 3, 6}) {
    for (int64_t n : {1, 4, 10, 120}) draws.push_back(resmem::DrawJson(d, n));
  }
  const nlohmann::json document = {{"draws", draws}, {"run", resmem::RunJson()}};
  std::puts(document.dump().c_str());
}
